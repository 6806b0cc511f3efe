"""The same from Python: verify, solve, look at the placements, run the workers."""

import placewright as pw

report = pw.verify("examples/faulty.yaml", cluster="2x8xH100")
for finding in report.errors:
    print(finding.code, "line", finding.span.line, "-", finding.help)

answer = pw.solve("examples/quickstart.yaml")
print(answer.verdict, answer.plan.digest[:19])
for placement in answer.plan.placements("rollout"):
    print(placement.rank, placement.node_id, placement.visible_accelerators)

# Running workers, each where the plan says, for as long as the block lasts. `address="HOST:PORT"` names a real cluster.
with pw.launch(answer.plan, simulate=True) as running:
    for row in running.audit:
        print(row.component, row.rank, row.node, row.visible)
    print(running.call("rollout", "environment")[3]["MASTER_PORT"].isdecimal())
