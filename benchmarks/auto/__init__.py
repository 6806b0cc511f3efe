"""Plans of RLinf jobs: cases, RLinf's algorithm, and its own tool."""
