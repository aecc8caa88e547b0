/** @param cells the first line is the head; the first column holds names, the others figures */
export function markdownTable(cells: string[][]): string {
	const [head, ...rows] = cells.map((line) => `| ${line.join(' | ')} |`);
	const rule = `|${cells[0]!.map((_, column) => (column === 0 ? '---|' : '--:|')).join('')}`;
	return [head, rule, ...rows].join('\n');
}

/** Two digits say enough; what is smaller than the machine's noise would only look exact. */
export function seconds(ms: number): string {
	const value = ms / 1000;
	if (value >= 10) return Math.round(value).toLocaleString('en');
	if (value >= 1) return value.toFixed(1);
	return value < 0.01 ? value.toFixed(3) : value.toFixed(2);
}
