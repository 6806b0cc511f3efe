"""Engines that compute in processes of their own, below the servers of a replica: vLLM and SGLang."""
