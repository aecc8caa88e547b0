import { consoleStyle } from './console-style.ts';

/** The look of all pages: the browser's own fonts, light or dark as the user has it. */
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
small { font-size: .8125rem; }
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
