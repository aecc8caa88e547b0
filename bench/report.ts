import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { resolve } from 'node:path';
import type { Row } from './measure.ts';

export interface Report {
	/** Also the file's name: bench/results/<name>.md */
	name: string;
	/** The headings of the columns. */
	ours: string;
	bare: string;
	rows: Row[];
}

/** Prints a report, and saves it so that runs can be compared (git diff bench/results), unless its work was made smaller. */
export function publish(report: Report, isWhole: boolean): void {
	const text = `# ${report.name}\n\n${machine()}\n\n${table(report)}\n`;
	console.log(`\n${text}`);
	if (!isWhole) return;
	const folder = resolve('bench', 'results');
	mkdirSync(folder, { recursive: true });
	writeFileSync(resolve(folder, `${report.name}.md`), text);
	const json = JSON.stringify({ machine: machine(), ...report }, null, '\t');
	writeFileSync(resolve(folder, `${report.name}.json`), `${json}\n`);
}

/** As Markdown that is readable as plain text. */
function table({ ours, bare, rows }: Omit<Report, 'name'>): string {
	const cells = [
		['', 'unit', ours, bare, 'ratio'],
		...rows.map((row) => [
			row.label,
			row.unit,
			rounded(row.ours),
			rounded(row.bare),
			(row.ours / row.bare).toFixed(2),
		]),
	];
	const widths = cells[0]!.map((_, column) =>
		Math.max(...cells.map((line) => line[column]!.length)),
	);
	const lines = cells.map((line) => {
		const padded = line.map((cell, column) =>
			column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
		);
		return `| ${padded.join(' | ')} |`;
	});
	const rule = widths.map((width, column) => `${'-'.repeat(width + 1)}${column < 2 ? '-' : ':'}`);
	return [lines[0], `|${rule.join('|')}|`, ...lines.slice(1)].join('\n');
}

/** Three digits are enough: more would be smaller than the machine's noise. */
function rounded(value: number): string {
	if (value >= 100) return Math.round(value).toLocaleString('en');
	return value.toPrecision(3);
}

/** Day, version of Node.js, processors and memory. */
export function machine(): string {
	const processors = cpus();
	const memory = Math.round(totalmem() / 2 ** 30);
	const day = new Date().toISOString().slice(0, 10);
	const parts = `${processors.length} × ${processors[0]?.model}, ${memory} GiB`;
	return `${day}, Node.js ${process.versions.node}, ${parts}`;
}
