from .recorded import recorded_page as recorded_page
from .server import Studio as Studio, serve as serve
from .widget import Player as Player, player as player
