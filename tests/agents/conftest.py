from __future__ import annotations

import torch

# Small networks are slower on several threads, and tests run side by side.
torch.set_num_threads(1)
