/** The look of all pages: the browser's own fonts, light or dark as the user has it. */
export const style = `
:root {
	color-scheme: light dark;
	--ground: light-dark(#f4f5f8, #14161c);
	--card: light-dark(#fff, #1d2029);
	--line: light-dark(#d9dce4, #363b48);
	--text: light-dark(#1b1e27, #eceef4);
	--quiet: light-dark(#5b6172, #a3a9ba);
	--accent: light-dark(#3949c6, #8f9cff);
	--on-accent: light-dark(#fff, #14161c);
	--danger: light-dark(#b3261e, #ff9d95);
	--good: light-dark(#e8f4ea, #1d3324);
	--bad: light-dark(#fdeceb, #3c2321);
}
* { box-sizing: border-box; }
body {
	margin: 0; padding: 3rem 1rem; background: var(--ground); color: var(--text);
	font: 1rem/1.5 system-ui, sans-serif;
}
main { max-width: 26rem; margin: 0 auto; }
main.wide { max-width: 52rem; }
.brand { margin: 0 0 1rem; color: var(--quiet); font-weight: 600; }
.brand::before { content: '◆ '; color: var(--accent); }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 0 0 .25rem; font-size: 1.125rem; }
p { margin: 0 0 1rem; }
.quiet, small { color: var(--quiet); }
.card {
	margin: 0 0 1.5rem; padding: 1.5rem; background: var(--card);
	border: 1px solid var(--line); border-radius: .75rem;
}
label, legend { display: block; margin: 0 0 .25rem; font-weight: 600; }
input:not([type=radio]), textarea {
	width: 100%; margin: 0 0 1rem; padding: .5rem .75rem; font: inherit; color: inherit;
	background: var(--ground); border: 1px solid var(--line); border-radius: .5rem;
}
fieldset, legend { margin: 0 0 1rem; padding: 0; border: 0; }
legend { margin: 0; }
fieldset label { font-weight: 400; }
input[type=radio] { margin: 0 .25rem 0 0; }
button, summary {
	padding: .5rem 1rem; font: inherit; font-weight: 600; cursor: pointer; color: var(--text);
	background: transparent; border: 1px solid var(--line); border-radius: .5rem;
}
button.main { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
button.danger, summary { color: var(--danger); }
button.link { padding: 0; color: var(--accent); border: 0; text-decoration: underline; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; }
.apart { justify-content: space-between; }
.row p, .row form, .row h1 { margin: 0; }
.grow { flex: 1; min-width: 0; }
ul { margin: 0 0 1rem; padding: 0; list-style: none; }
.scopes li { padding: .375rem 0; border-bottom: 1px solid var(--line); }
.scopes li::before { content: '✓'; margin-right: .5rem; color: var(--accent); }
.things li { padding: .75rem 0; border-bottom: 1px solid var(--line); }
.things code, .notice code { overflow-wrap: anywhere; }
.notice { margin: 0 0 1.5rem; padding: 1rem 1.5rem; border-radius: .75rem; background: var(--good); }
.notice p:last-child { margin: 0; }
.notice.bad { background: var(--bad); }
.notice code { user-select: all; font-size: 1.0625rem; }
summary { display: inline-block; list-style: none; }
details { text-align: right; }
details[open] summary { margin-bottom: .5rem; }
`;
