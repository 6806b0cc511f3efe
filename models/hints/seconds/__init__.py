"""The key `seconds` of a component: how it is written, and what it says."""
