"""Learn: adversarially trained NMF in eight short chapters, each with a picture that reacts."""

from pages.common.streamlit_private import ensure_app_frame
from pages.learn_view.navigation import show_chapters, show_way_on
from pages.learn_view.notes import show_notes
from pages.learn_view.stage import show_chapter, show_style
from pages.learn_view.state import ADDRESS, Place
from pages.learn_view.teaching import show_teaching

ensure_app_frame()
ADDRESS.follow()
place = Place.of(ADDRESS.values())
show_style(place)
show_chapters(place)
if place.notes:
    show_notes()
else:
    show_chapter(place)
    show_way_on(place)
    if not place.presenting:
        show_teaching(place)
ADDRESS.write()
