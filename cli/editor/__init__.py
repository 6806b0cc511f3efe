"""Language server: findings, fixes, explanations and completion in an editor.

`document` verifies a text and finds what is at a position; `keys` completes from the JSON Schema;
`server` speaks the protocol (LSP 3.17) with pygls.
"""
