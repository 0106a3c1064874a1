"""Learn: adversarially trained NMF in eight short chapters, each with a picture that reacts."""

from pages.common.streamlit_patches import ensure_app_frame
from pages.learn_view.lesson import (
    ADDRESS,
    LessonState,
    show_chapter,
    show_chapters,
    show_lesson_style,
    show_notes,
    show_previous_and_next,
    show_sheet,
    show_teaching,
)

ensure_app_frame()
ADDRESS.load_from_address()
lesson = LessonState.of(ADDRESS.values())
show_lesson_style(lesson)
show_chapters(lesson)
if lesson.notes:
    show_notes()
elif lesson.sheet:
    show_sheet(lesson)
else:
    show_chapter(lesson)
    show_previous_and_next(lesson)
    if not (lesson.presenting or lesson.student):
        show_teaching(lesson)
ADDRESS.write()
