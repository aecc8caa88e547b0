/**
 * @param cells the first line is the heading
 * @param names the number of columns with names, before those with figures
 */
export function markdownTable(cells: string[][], names = 1): string {
	const [head, ...rows] = cells.map((line) => `| ${line.join(' | ')} |`);
	const rule = `|${cells[0]!.map((_, column) => (column < names ? '---|' : '--:|')).join('')}`;
	return [head, rule, ...rows].join('\n');
}

/** Two digits are enough: more would be smaller than the machine's noise. */
export function seconds(ms: number): string {
	const value = ms / 1000;
	if (value >= 10) return Math.round(value).toLocaleString('en');
	if (value >= 1) return value.toFixed(1);
	return value < 0.01 ? value.toFixed(3) : value.toFixed(2);
}
