"""The same from Python: verify, solve, look at the placements."""

import placewright as pw

report = pw.verify("examples/faulty.yaml", cluster="2x8xH100")
for finding in report.errors:
    print(finding.code, "line", finding.span.line, "-", finding.help)

answer = pw.solve("examples/quickstart.yaml")
print(answer.verdict, answer.plan.digest[:19])
for placement in answer.plan.placements("rollout"):
    print(placement.rank, placement.node_id, placement.visible_accelerators)
