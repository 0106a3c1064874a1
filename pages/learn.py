"""Learn: adversarially trained NMF in seven short chapters, each with a picture that reacts."""

from pages.common.frame import through_app
from pages.learn_view.navigation import show_chapters, show_way_on
from pages.learn_view.stage import show_chapter, show_style
from pages.learn_view.state import Place, address
from pages.learn_view.teaching import show_teaching

through_app()
address.follow()
place = Place.of(address.values())
show_style(place)
show_chapters(place)
show_chapter(place)
show_way_on(place)
if not place.presenting:
    show_teaching(place)
address.write()
