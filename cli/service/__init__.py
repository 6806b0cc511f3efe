"""Service over HTTP: verify, solve and explain for programs that keep a connection.

`app` answers requests, `workers` keeps the processes that read what was posted, `process` runs in
them. A text that hangs or crashes a process costs that process alone.
"""
