"""Networks: how agents see, and what they make of it."""

from nrm.agents.networks.registry import NETWORKS, Network, NetworkConfig, NetworkKind, Sight, network_kind, resolved

__all__ = ["NETWORKS", "Network", "NetworkConfig", "NetworkKind", "Sight", "network_kind", "resolved"]
