"""How a comparison looks, in the dashboard (whose theme gives the colours) and on a page of its own."""

STYLE = """
.comparison {
  --ink: var(--st-text-color, light-dark(#0D1723, #E7ECF0));
  --muted: var(--st-gray-text-color, light-dark(#566273, #9EABB7));
  --line: var(--st-border-color, light-dark(#D5DCE3, #34424E));
  --paper: var(--st-background-color, Canvas);
  --tint: var(--st-secondary-background-color, light-dark(#EFF3F5, #1E2831));
  border-collapse: separate; border-spacing: 0; color: var(--ink); line-height: 1.3;
  font-variant-numeric: tabular-nums; font-size: 1rem; width: 100%;
}
.comparison th, .comparison td { padding: 0.2rem 0.25rem 0.2rem 0.4rem; text-align: left; }
.comparison th, .comparison td { white-space: nowrap; }
.comparison i { font-style: normal; font-weight: 400; color: var(--muted); font-size: 0.8125rem; }
.comparison small { display: block; color: var(--muted); font-size: 0.75rem; }
.comparison thead th { vertical-align: bottom; font-weight: 650; border-bottom: 2px solid var(--line); }
.comparison thead td { border-bottom: 2px solid var(--line); }
.comparison thead i { display: block; }
.comparison .nmf { color: var(--st-blue-text-color, light-dark(#2F5FA3, #8DB4EA)); }
.comparison .anmf { color: var(--st-violet-text-color, light-dark(#6A4E96, #BFA6E4)); }
.comparison .atnmf { color: var(--st-orange-text-color, light-dark(#955800, #F5B04C)); }
.comparison tbody tr:last-child > * { border-bottom: 1px solid var(--line); padding-bottom: 0.45rem; }
.comparison tbody .alpha { border-bottom: 1px solid var(--line); font-size: 1.125rem; }
.comparison tbody tr:first-child > * { padding-top: 0.45rem; }
.comparison tbody th, .comparison tbody td { vertical-align: top; }
.comparison tbody th[scope="row"] { font-weight: 400; color: var(--muted); }
.comparison tbody th[scope="row"] { font-size: 0.875rem; line-height: 1.5; }
.comparison .difference { color: var(--muted); font-size: 0.8125rem; margin-left: 0.15rem; }
.comparison .mark { font-weight: 700; }
.comparison .mark.within { color: var(--st-green-text-color, light-dark(#0A6E64, #5CCFC0)); }
.comparison .mark.near { color: var(--muted); }
.comparison .mark.outside { color: var(--st-red-text-color, light-dark(#B8262A, #FF8A8C)); }
.comparison .none { color: var(--muted); font-size: 0.8125rem; line-height: 1.6; }
"""
