"""What trains: its batches from the first check to the last update, and the modes that go together."""
