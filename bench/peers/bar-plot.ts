import type { Work } from './measure-peers.ts';
import { type Subject, subjects } from './subjects.ts';

const width = 760;
const left = 130;
const right = 70;
const bar = 15;
const groupGap = 34;

/** Bars on a logarithmic scale, one group for each piece of work. */
export function plot(title: string, works: Array<{ name: string; work: Work }>): string {
	const values = works.flatMap(({ work }) => subjects.map((subject) => work.figures[subject].ms / 1000));
	const low = Math.floor(Math.log10(Math.min(...values)));
	const high = Math.ceil(Math.log10(Math.max(...values)));
	const place = (seconds: number) =>
		left + ((Math.log10(seconds) - low) / (high - low)) * (width - left - right);
	const groupHeight = subjects.length * bar + groupGap;
	const height = 50 + works.length * groupHeight + 24;

	const decades = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
	const axis = decades.map((seconds) => {
		const x = place(seconds).toFixed(1);
		return [
			`<line class="axis" x1="${x}" y1="44" x2="${x}" y2="${height - 24}"/>`,
			`<text class="tick" x="${x}" y="${height - 8}">${Number(seconds.toPrecision(1))} s</text>`,
		].join('\n');
	});
	const groups = works.map(({ name, work }, group) => {
		const top = 50 + group * groupHeight;
		const bars = subjects.map((subject, i) => {
			const y = top + 20 + i * bar;
			const seconds = work.figures[subject].ms / 1000;
			const end = place(seconds);
			const kind = kindOf(subject);
			return [
				`<text class="name" x="${left - 8}" y="${y + 11}">${subject}</text>`,
				`<rect class="${kind}" x="${left}" y="${y + 1}" width="${(end - left).toFixed(1)}" height="${bar - 3}"/>`,
				`<text class="value" x="${(end + 6).toFixed(1)}" y="${y + 11}">${Number(seconds.toPrecision(2))}</text>`,
			].join('\n');
		});
		return [`<text class="group" x="${left}" y="${top + 12}">${name}</text>`, ...bars].join('\n');
	});
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">`,
		`<style>${style}</style>`,
		`<rect class="ground" width="${width}" height="${height}"/>`,
		`<text class="title" x="16" y="26">${title}</text>`,
		...axis,
		...groups,
		'</svg>',
		'',
	].join('\n');
}

function kindOf(subject: Subject): string {
	if (subject === 'CRM Platform') return 'ours';
	return subject === 'bare loop' ? 'bare' : 'peer';
}

const style = `
text{font:11px system-ui,sans-serif;fill:#24292f}
.title{font-size:14px;font-weight:600}.group{font-weight:600}
.name{text-anchor:end}.tick{text-anchor:middle;fill:#6e7781}
.ground{fill:#fff}.axis{stroke:#d0d7de}.ours{fill:#d6336c}.bare{fill:#adb5bd}.peer{fill:#4c6ef5}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.tick{fill:#8b949e}.ground{fill:#0d1117}.axis{stroke:#30363d}}
`;
