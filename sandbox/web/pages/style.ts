/** The style of pages with a navigation: beside the page where there is room, otherwise above it. */
const consoleStyle = `
.with-navigation { padding: 0; }
.with-navigation main { max-width: 76rem; margin: 0; padding: 1.25rem 1rem 3rem; }
.skip { position: absolute; left: -99rem; padding: .5rem 1rem; background: var(--card); }
.skip:focus { left: 0; z-index: 2; }
.navigation {
	padding: .75rem 1rem 0; background: var(--card); border-bottom: 1px solid var(--line);
	display: grid; grid-template-columns: 1fr auto; gap: 0 1rem;
}
.navigation .brand { margin: 0; }
.navigation nav { grid-column: 1 / -1; display: flex; gap: .25rem; overflow-x: auto; padding: .5rem 0; }
.navigation nav p { display: none; }
.navigation ul { display: flex; gap: .25rem; }
.navigation li a {
	display: block; padding: .125rem .625rem; font-size: .875rem; color: var(--text); white-space: nowrap; text-decoration: none;
	border-radius: .5rem;
}
.navigation li a:hover { background: var(--ground); }
.navigation [aria-current] { background: var(--tint); color: var(--accent); font-weight: 600; }
.navigation li a:focus-visible { outline-offset: -3px; }
.who { grid-area: 1 / 2; }
.who p { display: none; }
.columns { display: grid; gap: 0 1.5rem; align-items: start; margin-top: 1rem; }
.columns > *, .card { min-width: 0; }
.search { margin: 0 0 1rem; }
.search select { width: auto; max-width: 100%; }
.search label:not(.unseen) { margin: 0; }
.flush { padding: 0; overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .5625rem .75rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { font-size: .8125rem; color: var(--quiet); white-space: nowrap; }
thead a { color: inherit; }
[aria-sort=ascending] a::after { content: ' ↑'; }
[aria-sort=descending] a::after { content: ' ↓'; }
tbody tr:last-child > * { border-bottom: 0; }
tbody tr:hover { background: var(--ground); }
table { font-size: .875rem; }
td, tbody th, td .text { overflow-wrap: break-word; }
td abbr { display: none; }
td a[href^=mailto] { display: inline-block; min-width: 8.5rem; overflow-wrap: anywhere; }
td time { white-space: nowrap; }
.badge {
	display: inline-block; padding: 0 .5rem; border-radius: 1rem; background: var(--ground); color: var(--quiet);
	font-size: .8125rem; font-weight: 600; white-space: nowrap; border: 1px solid var(--line);
}
.is-good { background: var(--good); color: var(--on-good); border-color: transparent; }
.is-bad { background: var(--bad); color: var(--danger); border-color: transparent; }
.text { white-space: pre-line; overflow-wrap: anywhere; }
.values { display: flex; flex-wrap: wrap; gap: .125rem .75rem; }
.members > div { display: inline; margin-right: .75rem; }
.members dt, .members dd { display: inline; }
.members dt { color: var(--quiet); }
.members dt::after { content: ': '; }
.record > div { display: grid; grid-template-columns: 10rem 1fr; gap: 1rem; padding: .4375rem 0; border-bottom: 1px solid var(--line); }
.record > div > dt { color: var(--quiet); }
.record > div > dd { min-width: 0; overflow-wrap: anywhere; }
.related { padding: .5rem 1.5rem; }
.related li, .events > li { padding: .75rem 0; border-bottom: 1px solid var(--line); }
.related li:last-child, .events > li:last-child { border-bottom: 0; }
.events { padding: .25rem 1.5rem; }
.events p { margin: .125rem 0 .375rem; overflow-wrap: anywhere; }
.event-type { font-family: ui-monospace, monospace; font-size: .875rem; }
.delivery { padding-left: .75rem; border-left: 3px solid var(--line); }
.events summary, .more > summary {
	padding: 0; border: 0; background: none; font-weight: 400; color: var(--accent); text-decoration: underline;
}
pre {
	max-height: 24rem; margin: .5rem 0 0; padding: .75rem; overflow: auto; font-size: .8125rem;
	background: var(--ground); border: 1px solid var(--line); border-radius: .5rem;
}
.more { margin: 1rem 0; }
.more > .fields { margin-top: 1rem; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem 1.5rem; margin: 0 0 1rem; }
.field:has(textarea) { grid-column: 1 / -1; }
.field input, .field textarea, .field select { margin: 0 !important; }
.error { margin: .125rem 0 0; color: var(--danger); font-size: .875rem; font-weight: 600; }
.changes { margin: 0 0 .375rem; font-size: .875rem; overflow-wrap: anywhere; }
.changes del { color: var(--quiet); }
.changes ins { text-decoration: none; font-weight: 600; }
[aria-invalid] { border-color: var(--danger) !important; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 1rem; margin: 1rem 0 1.5rem; }
.tiles .card { display: block; margin: 0; padding: 1rem 1.25rem; color: var(--quiet); text-decoration: none; }
.tiles .card:hover { border-color: var(--accent); }
.tiles strong { display: block; font-size: 1.5rem; line-height: 1.25; color: var(--text); }
@media (max-width: 63.99rem) {
	tr > :nth-child(n + 5) { display: none; }
}
@media (max-width: 40rem) {
	tr > :nth-child(n + 3) { display: none; }
	.record > div { grid-template-columns: 1fr; gap: 0; }
	.card { padding: 1rem; }
	.card.flush { padding: 0; }
	.menu > form { right: auto; left: 0; }
	.search .grow { flex-basis: 100%; }
	td, tbody th, td .text { overflow-wrap: anywhere; }
}
@media (min-width: 64rem) {
	.with-navigation { display: grid; grid-template-columns: 14.5rem minmax(0, 1fr); }
	.with-navigation main { padding: 1.75rem 2rem 3rem; }
	.navigation {
		position: sticky; top: 0; height: 100vh; padding: 1.25rem .75rem 1rem; display: flex; flex-direction: column;
		border: 0; border-right: 1px solid var(--line);
	}
	.navigation .brand { padding: 0 .625rem; }
	.navigation nav { flex: 1; display: block; overflow: auto; }
	.navigation nav p {
		display: block; margin: .625rem .625rem .125rem; color: var(--quiet); font-size: .75rem; font-weight: 600;
		text-transform: uppercase; letter-spacing: .04em;
	}
	.navigation ul { display: block; }
	.who { padding: .75rem .625rem 0; border-top: 1px solid var(--line); }
	.who p { display: block; margin: 0 0 .25rem; overflow-wrap: anywhere; line-height: 1.3; }
	.columns { grid-template-columns: minmax(0, 3fr) minmax(20rem, 2fr); }
}
`;

/** The look of all pages: the browser's own fonts, in light or dark mode as the user prefers. */
export const style = `
:root {
	color-scheme: light dark;
	--ground: light-dark(#f5f6fa, #12141a);
	--card: light-dark(#fff, #1b1e27);
	--line: light-dark(#dfe2ea, #333845);
	--field: light-dark(#767d90, #7d8496);
	--text: light-dark(#1b1e27, #eceef4);
	--quiet: light-dark(#565c6d, #a8aebd);
	--accent: light-dark(#4338ca, #a5b4fc);
	--tint: light-dark(#eceafd, #2a2c48);
	--on-accent: light-dark(#fff, #14161c);
	--danger: light-dark(#b3261e, #ff9d95);
	--good: light-dark(#e3f3e6, #1d3324);
	--on-good: light-dark(#1d5c2b, #9fdcae);
	--bad: light-dark(#fdeceb, #3c2321);
	--shadow: 0 1px 2px light-dark(#1b1e2714, #0006);
}
* { box-sizing: border-box; }
body {
	margin: 0; padding: 3rem 1rem; background: var(--ground); color: var(--text);
	font: .9375rem/1.5 system-ui, sans-serif;
}
main { max-width: 30rem; margin: 0 auto; }
main:focus { outline: 0; }
.brand {
	display: flex; gap: .625rem; align-items: center; margin: 0 0 1rem; color: var(--text);
	font-weight: 650; text-decoration: none;
}
.brand img { display: block; }
a { color: var(--accent); text-underline-offset: .15em; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0 0 .5rem; font-size: 1.0625rem; }
p { margin: 0 0 1rem; }
small { font-size: .8125rem; overflow-wrap: anywhere; }
.quiet, small { color: var(--quiet); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.card {
	margin: 0 0 1.5rem; padding: 1.25rem 1.5rem; background: var(--card);
	border: 1px solid var(--line); border-radius: .75rem; box-shadow: var(--shadow);
}
label, legend { display: block; margin: 0 0 .25rem; font-weight: 600; }
input:not([type=radio], [type=checkbox]), textarea, select {
	width: 100%; margin: 0 0 1rem; padding: .4375rem .75rem; font: inherit; color: inherit;
	background: var(--card); border: 1px solid var(--field); border-radius: .5rem;
}
select { min-height: 2.375rem; }
fieldset { margin: 0 0 1rem; padding: 0; border: 0; min-width: 0; }
fieldset label { font-weight: 400; }
input[type=radio], input[type=checkbox] { margin: 0 .25rem 0 0; accent-color: var(--accent); }
button, summary, .button {
	display: inline-block; padding: .4375rem .875rem; font: inherit; font-weight: 600; line-height: 1.5;
	cursor: pointer; color: var(--text); background: var(--card); text-decoration: none;
	border: 1px solid var(--line); border-radius: .5rem; list-style: none;
}
button:hover, summary:hover, .button:hover { border-color: var(--field); }
summary::-webkit-details-marker { display: none; }
.main { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
.danger { color: var(--danger); }
button.link { padding: 0; color: var(--accent); background: none; border: 0; text-decoration: underline; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.row { display: flex; flex-wrap: wrap; gap: .625rem; align-items: center; }
.apart { justify-content: space-between; }
.row p, .row form, .row h1, .row h2, .row input, .row select { margin: 0; }
.grow { flex: 1; min-width: 0; }
ul, ol, dl, dd { margin: 0; padding: 0; list-style: none; }
code { font-size: .8125rem; overflow-wrap: anywhere; }
.scopes { display: grid; grid-template-columns: repeat(auto-fill, minmax(12.5rem, 1fr)); gap: 0 1rem; margin: 0 0 1rem; }
.scopes li { padding: .125rem 0; font-size: .8125rem; }
.scopes li::before { content: '✓'; margin-right: .5rem; color: var(--accent); }
.decision { position: sticky; bottom: 0; padding: .75rem 0 .25rem; background: var(--card); }
.decision p { margin: 0 0 .25rem; }
.things { margin: 0 0 1rem; }
.things li { padding: .75rem 0; border-bottom: 1px solid var(--line); }
.notice { margin: 0 0 1.5rem; padding: 1rem 1.5rem; border-radius: .75rem; background: var(--good); }
.notice p:last-child { margin: 0; }
.notice.bad { background: var(--bad); }
.notice code { user-select: all; font-size: 1rem; }
.menu { position: relative; }
.menu > form {
	position: absolute; right: 0; z-index: 1; width: max-content; max-width: min(20rem, 90vw); margin: .25rem 0 0;
	padding: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
	box-shadow: 0 .5rem 1.5rem #0003;
}
${consoleStyle}`;
