"""Everything that the Restore page shows is a function of one `RestoreSetting`."""

import math
from dataclasses import dataclass

from atnmf_core import Dataset
from atnmf_core.datasets.marks import BETWEEN, PATTERN
from atnmf_core.reference.league import LEAGUE_DATA
from atnmf_core.restoration.choice import Losses
from atnmf_core.restoration.damage import Damage
from atnmf_core.restoration.findings import KINDS
from atnmf_core.restoration.restore import Side
from atnmf_core.restoration.task import RestoreTask
from pages.common.address import Address
from pages.common.controls import (
    PIXEL,
    FreeSlider,
    Number,
    OneOf,
    Pixel,
    Stops,
    Switch,
    Text,
    clip_pixel,
    parse_pixel,
    redeclare,
)
from pages.common.setting import LAMBDAS, MAX_IMAGES, MAX_LAM, MAX_SEED, Setting
from pages.common.uploads import FILE_CONTROLS, FileSetting

SHARES = tuple(step / 100 for step in (0, 1, 2, 3, 5, 10, 15, 20, 30, 40, 50))
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
DAMAGES = tuple(Damage().shares)  # Kinds of damage to try, as `Damage` names them
MAX_MARKS = 6000  # Letters that marks may take in an address
MARKS = rf"(?=.{{0,{MAX_MARKS}}}$)({PATTERN}({BETWEEN}{PATTERN})*)?"


def _share(default: float, label: str, help: str) -> float:
    return Stops.field(default, label, SHARES, "{:.0%}", help=help)


@dataclass(frozen=True)
class Price(FreeSlider):
    """Of the adversary, with a last stop for none."""

    def word(self, stop: float) -> str:
        return "none" if stop >= self.high else super().word(stop)


@dataclass(frozen=True)
class RestoreSetting:
    """The state of the Restore page. The defaults are the first view: a scene with a tenth of its entries
    dead, restored without being told which.

    losses : whether what is wrong is marked as missing, or nobody knows which entries are wrong.
    dead to lost, damage_seed : what is done to sound data first, see `Damage`.
    by : whether K, lambda and leash are searched for or set by hand.
    run : the task that was asked for, as `Key.name`, so that it is resumed after a reload or a
        restart of the server.
    view : three bands of a cube as a colour picture, or a single one (`image`).
    pixel : the one looked at, as "row.column" counted from 1; empty for the middle.
    result : measured values kept where they look sound, or the model everywhere.
    wrong : the kind of damage whose entries are shown.
    threshold, side : which suspects count.
    others : whether other methods restore the same data, to compare with.
    marks, mask : what somebody has marked as wrong, as `spell_marks` writes it, and an uploaded mask.
    league : the data whose measurements are shown in place of a restoration; empty for none.
    """

    data: str = redeclare(Setting, "data", "simulated-scene")
    upload: str = redeclare(Setting, "upload")
    losses: Losses = OneOf.field(
        "unmarked",
        "What is wrong with it?",
        {"unmarked": "Some entries are wrong; I do not know which", "marked": "I know what is missing"},
    )
    dead: float = _share(0.1, "Dead and dark pixels", "Single entries, at 0 to 60% of their value.")
    streaks: float = _share(0.0, "Dark streaks", "Image columns, different ones in each band or image.")
    block: float = _share(0.0, "A dark block", "One rectangle; in a cube, in a third of the bands.")
    cosmic: float = _share(0.0, "Cosmic rays", "Single entries at random places, far too bright.")
    noise: float = _share(
        0.0, "Noise", "On every entry: its standard deviation, as a share of the mean value."
    )
    band_noise: float = _share(0.0, "Noise that differs by band", "As above, in the worst band or image.")
    stripes: float = _share(
        0.0, "Stripes", "Image columns that are brighter or darker by one value, in a third of the bands."
    )
    dead_columns: float = _share(0.0, "Dead columns", "Image columns at zero, in a quarter of the bands.")
    salt: float = _share(0.0, "Salt and pepper", "Single entries at zero or at the largest value.")
    shadow: float = _share(0.0, "A shadow", "A disc that is dark in all bands, which nobody can tell.")
    drift: float = _share(
        0.0, "Drift", "All bands grow brighter from row to row, which nobody can tell either."
    )
    lost: float = _share(0.0, "Lost pixels", "A rectangle of which nothing was measured.")
    damage_seed: int = Number.field(0, "Damage seed", 0, MAX_SEED, typed=True)
    by: str = OneOf.field(
        "search",
        "K, λ and leash are",
        {"search": "searched for", "hand": "set by hand"},
        help="The model has K parts; an adversary of price λ, maybe on a leash, keeps wrong entries from "
        "bending it. The search takes the model that best predicts entries that were held out.",
    )
    K: int = redeclare(Setting, "K", 5)
    lam: float = Price.field(
        1.1,
        "Adversary's price λ",
        (*LAMBDAS, MAX_LAM),
        low=1.0,
        high=MAX_LAM,
        help="The nearer to 1, the less a wrong entry counts. None: NMF, without an adversary.",
    )
    leash: float = redeclare(Setting, "leash")
    seed: int = redeclare(Setting, "seed")
    colour: str = redeclare(Setting, "colour")
    run: str = Text.field("", pattern=r"[0-9a-f]{0,16}")
    view: str = OneOf.field("band", "Picture", {"rgb": "Colour composite", "band": "Single band"})
    image: int = Number.field(33, "Band", 1, MAX_IMAGES)
    pixel: str = Text.field("", pattern=PIXEL)
    result: str = OneOf.field(
        "restored", "Result", {"restored": "Restored", "denoised": "Denoised everywhere"}
    )
    wrong: str = OneOf.field("all", "What was wrong", {"all": "All that was wrong"} | KINDS)
    threshold: float = Stops.field(
        1.0,
        "Defect threshold",
        THRESHOLDS,
        help="From which suspicion an entry counts as a defect. 1: as the restoration judged. Higher: "
        "only what is clearly wrong. Lower: more suspects.",
    )
    side: Side = OneOf.field(
        "both", "Defects are", {"both": "either", "dark": "too dark", "bright": "too bright"}
    )
    others: bool = Switch.field(
        False,
        "Compare with other methods",
        help="Robust PCA, soft-impute, medians or inpainting, L1-NMF and NMF on the same data.",
    )

    marks: str = Text.field("", pattern=MARKS)
    mask: str = Text.field("", pattern=r"[0-9a-f]{0,64}")
    league: str = OneOf.field("", "Data", {"": "none"} | LEAGUE_DATA)

    @property
    def task(self) -> RestoreTask:
        """How the data is damaged and restored."""
        shares = {name: getattr(self, name) for name in DAMAGES}
        by_hand = self.by == "hand"
        return RestoreTask(
            Damage(**shares, seed=self.damage_seed) if any(shares.values()) else Damage(),
            self.losses,
            self.K if by_hand else None,
            (self.lam if self.lam < MAX_LAM else math.inf) if by_hand else None,
            self.leash if by_hand and math.isfinite(self.leash) else None,
            self.seed,
        )

    def place(self, data: Dataset) -> Pixel:
        """The pixel in view, clipped to the image."""
        return clip_pixel(parse_pixel(self.pixel), data)


# Controls that mean the same on other pages, and have the same session keys.
SHARED = ("data", "upload", "K", "lam", "leash", "seed", "colour", "image", "pixel")
ADDRESS = Address(
    "restore",
    RestoreSetting,
    FileSetting,
    key=lambda name: name if name in (*SHARED, *FILE_CONTROLS) else f"restore_{name}",
)
