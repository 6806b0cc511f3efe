"""Launches that outlive the command: held by a keeper process, recorded in private."""
