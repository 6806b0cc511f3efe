"""Engines that compute in separate processes below a replica's servers: vLLM and SGLang."""
