/** The style of pages with a navigation: beside them where there is room, otherwise above. */
export const consoleStyle = `
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
.events summary, .more > summary { padding: 0; border: 0; background: none; font-weight: 400; color: var(--accent); text-decoration: underline; }
pre {
	max-height: 24rem; margin: .5rem 0 0; padding: .75rem; overflow: auto; font-size: .8125rem;
	background: var(--ground); border: 1px solid var(--line); border-radius: .5rem;
}
.more { margin: 1rem 0; }
.more > .fields { margin-top: 1rem; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem 1.5rem; margin: 0 0 1rem; }
.fields > .group, .field:has(textarea) { grid-column: 1 / -1; }
.field input, .field textarea, .field select { margin: 0 !important; }
.group { margin: 0; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
.group legend { padding: 0 .25rem; }
.group .fields { margin: .5rem 0 0; }
.line { padding: 0 0 .75rem; border-bottom: 1px dashed var(--line); }
.line small { display: none; }
.line:last-child { border: 0; padding: 0; }
.line.fields { grid-template-columns: repeat(auto-fit, minmax(min(100%, 7.5rem), 1fr)); gap: .75rem; }
.add > summary { width: fit-content; }
.add[open] > summary { display: none; }
.choices { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
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
