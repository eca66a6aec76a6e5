from __future__ import annotations

import torch

# Tests run side by side, and the tensors here are small: more threads than one only get in each other's way.
torch.set_num_threads(1)
