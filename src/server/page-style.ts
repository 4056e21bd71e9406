// The look of the API page: one neutral ground, one accent, a 4-pixel grid, light and dark from the same tokens.

export const pageStyle = `
:root { color-scheme: light dark; --ground: #fbfbfa; --raised: #f3f3f1; --line: #dededa; --ink: #1d1f1e; --dim: #666a67; --accent: #1f6650;
  --get: #1f6650; --post: #7a5200; --put: #234f8f; --delete: #a3262a; }
@media (prefers-color-scheme: dark) { :root { --ground: #151716; --raised: #1d201f; --line: #303433; --ink: #e4e6e4; --dim: #979c99; --accent: #6cc3a3;
  --get: #6cc3a3; --post: #d9a94a; --put: #82aee8; --delete: #ec8683; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 16px; }
body { margin: 0; display: grid; grid-template-columns: 260px minmax(0, 1fr); background: var(--ground); color: var(--ink);
  font: 14px/20px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 20px 12px 20px 20px; border-right: 1px solid var(--line); font-size: 13px; }
nav h2 { margin: 20px 0 4px; font-size: 12px; font-weight: 600; color: var(--dim); }
nav ul { margin: 0; padding: 0; list-style: none; }
nav a { display: block; padding: 2px 4px; border-radius: 4px; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
nav a:hover, nav a:focus-visible { background: var(--raised); }
.brand { margin: 0; font-weight: 600; }
.brand span, .roles, summary span, small { color: var(--dim); font-weight: 400; }
main { padding: 32px 40px 80px; max-width: 1040px; }
h1 { margin: 0 0 8px; font-size: 20px; line-height: 28px; font-weight: 600; }
section > h2 { margin: 48px 0 4px; padding-top: 16px; border-top: 1px solid var(--line); font-size: 16px; line-height: 24px; font-weight: 600; }
article { margin-top: 28px; }
article:target h3 { background: var(--raised); box-shadow: -8px 0 0 var(--raised), 8px 0 0 var(--raised); }
h3 { margin: 0; font-size: 14px; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 4px 0; max-width: 76ch; }
code { font: 13px/20px ui-monospace, monospace; }
h3 i { font-style: normal; color: var(--accent); }
b.get, b.post, b.put, b.patch, b.delete { display: inline-block; width: 52px; font: 600 11px/20px ui-monospace, monospace; text-transform: uppercase; }
b.get { color: var(--get); } b.post { color: var(--post); } b.put, b.patch { color: var(--put); } b.delete { color: var(--delete); }
.roles { font-size: 13px; } .roles span { padding: 0 4px; border: 1px solid var(--line); border-radius: 4px; }
details { margin-top: 4px; } summary { cursor: pointer; padding: 2px 0; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.wide { overflow-x: auto; }
table { width: 100%; margin: 4px 0 8px; border-collapse: collapse; font-size: 13px; }
th { padding: 4px 12px 4px 0; text-align: left; font-weight: 500; color: var(--dim); border-bottom: 1px solid var(--line); }
td { padding: 4px 12px 4px 0; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
td em { margin-left: 8px; font-style: normal; font-size: 12px; color: var(--dim); }
.form { color: var(--dim); } .s2 { color: var(--get); } .s4 { color: var(--post); } .s5 { color: var(--delete); }
main a { color: var(--accent); text-underline-offset: 2px; }
@media (max-width: 800px) { body { display: block; } nav { position: static; height: auto; border: 0; border-bottom: 1px solid var(--line); } main { padding: 24px 20px 64px; } }
@media print { nav { display: none; } body { display: block; } }
`
