const width = 760;
const left = 64;
const right = 200;
const height = 320;
const top = 50;
const bottom = 44;

export interface Line {
	name: string;
	/** Number of executions, refusals per request that passed. */
	points: Array<[number, number]>;
}

/** Lines over the number of executions, both axes logarithmic. What is below the lowest tick is drawn on it. */
export function linePlot(title: string, lines: Line[]): string {
	const xs = [1, 10, 100, 1_000, 10_000];
	const ys = [0.001, 0.01, 0.1, 1, 10, 100];
	const x = (value: number) => left + (Math.log10(value) / 4) * (width - left - right);
	const y = (value: number) => {
		const part = (Math.log10(Math.max(value, ys[0]!)) + 3) / 5;
		return height - bottom - part * (height - top - bottom);
	};
	const vertical = xs.map(
		(tick) => `<line class="axis" x1="${x(tick)}" y1="${top}" x2="${x(tick)}" y2="${height - bottom}"/><text class="tick" x="${x(tick)}" y="${height - bottom + 18}">${tick.toLocaleString('en')}</text>`,
	);
	const horizontal = ys.map(
		(tick) => `<line class="axis" x1="${left}" y1="${y(tick).toFixed(1)}" x2="${width - right}" y2="${y(tick).toFixed(1)}"/><text class="level" x="${left - 8}" y="${(y(tick) + 4).toFixed(1)}">${tick}</text>`,
	);
	let labeled = top - 12;
	const drawn = [...lines]
		.sort((a, b) => y(a.points.at(-1)![1]) - y(b.points.at(-1)![1]))
		.map(({ name, points }) => {
			const kind = lines.findIndex((line) => line.name === name);
			const path = points.map(([executions, refusals]) => `${x(executions).toFixed(1)},${y(refusals).toFixed(1)}`).join(' ');
			const end = points.at(-1)!;
			labeled = Math.max(labeled + 15, y(end[1]) + 4);
			return `<polyline class="line${kind}" points="${path}"/><text class="name${kind}" x="${(x(end[0]) + 8).toFixed(1)}" y="${labeled.toFixed(1)}">${name}</text>`;
		});
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">`,
		`<style>${style}</style>`,
		`<rect class="ground" width="${width}" height="${height}"/>`,
		`<text class="title" x="16" y="26">${title}</text>`,
		...vertical,
		...horizontal,
		`<text class="tick" x="${(left + width - right) / 2}" y="${height - 8}">executions at once</text>`,
		...drawn,
		'</svg>',
		'',
	].join('\n');
}

const colors = ['#d6336c', '#4c6ef5', '#868e96', '#2b8a3e', '#e8590c'];
const style = `
text{font:11px system-ui,sans-serif;fill:#24292f}
.title{font-size:14px;font-weight:600}.tick{text-anchor:middle;fill:#6e7781}.level{text-anchor:end;fill:#6e7781}
.ground{fill:#fff}.axis{stroke:#d0d7de}polyline{fill:none;stroke-width:2}
${colors.map((color, i) => `.line${i}{stroke:${color}}.name${i}{fill:${color}}`).join('')}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.tick,.level{fill:#8b949e}.ground{fill:#0d1117}.axis{stroke:#30363d}}
`;
