"""Learn: adversarially trained NMF in eight short chapters, each with a picture that reacts."""

from pages.common.streamlit_private import ensure_app_frame
from pages.learn_view.navigation import show_chapters, show_previous_and_next
from pages.learn_view.notes import show_notes
from pages.learn_view.stage import show_chapter, show_style
from pages.learn_view.state import ADDRESS, LessonState
from pages.learn_view.teaching import show_teaching

ensure_app_frame()
ADDRESS.follow()
lesson = LessonState.of(ADDRESS.values())
show_style(lesson)
show_chapters(lesson)
if lesson.notes:
    show_notes()
else:
    show_chapter(lesson)
    show_previous_and_next(lesson)
    if not lesson.presenting:
        show_teaching(lesson)
ADDRESS.write()
