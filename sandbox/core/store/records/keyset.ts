import { type Cell, quoted } from './columns.ts';
import type { Condition } from './condition.ts';

export interface Order {
	column: string;
	descending: boolean;
}

/**
 * Selects the rows that follow the row with these values. Adjacent columns with the same direction are
 * compared as one row value, which SQLite evaluates with an index on them; where the direction changes,
 * later columns count only if all earlier ones are equal.
 *
 * @param order the whole order; its last column is unique
 * @param values one for each column of the order
 */
export function keysetCondition(order: Order[], values: Cell[]): Condition {
	const runs: Array<{ columns: string[]; values: Cell[]; descending: boolean }> = [];
	for (const [i, { column, descending }] of order.entries()) {
		const last = runs.at(-1);
		if (last && last.descending === descending) {
			last.columns.push(column);
			last.values.push(values[i]!);
		} else {
			runs.push({ columns: [column], values: [values[i]!], descending });
		}
	}
	return runs.reduceRight<Condition | undefined>((later, run) => {
		const compare = (operator: string) =>
			`(${run.columns.map(quoted).join()}) ${operator} (${run.columns.map(() => '?').join()})`;
		const operator = run.descending ? '<' : '>';
		if (!later) return { sql: compare(operator), values: run.values };
		return {
			// The first part suffices for the index; the second excludes earlier rows.
			sql: `${compare(`${operator}=`)} AND (${compare(operator)} OR ${later.sql})`,
			values: [...run.values, ...run.values, ...later.values],
		};
	}, undefined)!;
}
