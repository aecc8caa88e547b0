import { compileFunction } from 'node:vm';

import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';

import type { Workflow } from '../../../demo/n8n-client.ts';

/** An item, and what it was made from, by the node that returned it. */
export interface Item {
	json: IDataObject;
	from: Record<string, IDataObject>;
}

export interface TableRow extends IDataObject {
	id: number;
	updatedAt: string;
}

/** A table as n8n's Data Table node sees it. */
export class ExampleTable {
	rows: TableRow[] = [];
	private ids = 0;
	private time = Date.now();

	/** Later than the last one, however fast it goes. */
	private now(): string {
		this.time = Math.max(this.time + 1, Date.now());
		return new Date(this.time).toISOString();
	}

	add(values: IDataObject): TableRow {
		const row = { ...values, id: (this.ids += 1), updatedAt: this.now() };
		this.rows.push(row);
		return row;
	}

	change(row: TableRow, values: IDataObject): TableRow {
		Object.assign(row, values, { updatedAt: this.now() });
		return row;
	}
}

/** Code and expressions in it, as n8n runs them. */
type Scope = Record<'$json' | '$input' | '$' | '$runIndex', unknown>;

const run = (code: string, scope: Scope): unknown =>
	(compileFunction(code, Object.keys(scope)) as (...values: unknown[]) => unknown)(...Object.values(scope));

const valueOf = (text: unknown, scope: Scope): unknown =>
	typeof text === 'string' && text.startsWith('={{') ? run(`return ${text.slice(3, -2)}`, scope) : text;

const isSame = (a: unknown, b: unknown): boolean => (a ?? null) === (b ?? null);

/**
 * Plays an execution of an example in n8n's order (v1): the upper branch to its end, then the next. It stands
 * still before each effect, so that anything may happen between two of them.
 *
 * @param first items of the trigger
 * @param sync what the node CRM Platform Sync does: items of each output, with the place of the item they belong to
 */
export async function* playExample(
	{ nodes, connections }: Workflow,
	trigger: string,
	first: IDataObject[],
	table: ExampleTable,
	sync: (node: INode, items: IDataObject[]) => Promise<Array<Array<{ json: IDataObject; item: number }>>>,
): AsyncGenerator<void, void> {
	const runs = new Map<string, Item[][]>();
	const node = (name: string): INode => nodes.find((candidate) => candidate.name === name)!;
	const waiting: Array<{ node: INode; items: Item[] }> = [];

	const end = (done: INode, outputs: Item[][]): void => {
		const items = outputs[0] ?? [];
		runs.set(done.name, [...(runs.get(done.name) ?? []), items]);
		const next = (connections[done.name]?.main ?? []).flatMap((links, i) =>
			(links ?? []).flatMap((link) => (outputs[i]?.length ? [{ node: node(link.node), items: outputs[i] }] : [])),
		);
		waiting.unshift(...next.sort((a, b) => a.node.position[1] - b.node.position[1]));
	};
	const scopeOf = (at: INode, items: Item[], item = items[0]!): Scope => ({
		$json: item.json,
		$input: { all: () => items, item },
		$: (name: string) => ({
			all: (...[, index = -1]: Array<number | undefined>) => runs.get(name)!.at(index)!,
			item: { json: item.from[name] },
		}),
		$runIndex: runs.get(at.name)?.length ?? 0,
	});
	const createItem = (at: INode, json: IDataObject, of?: Item): Item => ({ json, from: { ...of?.from, [at.name]: json } });

	function rowsOf({ filters, matchType }: INodeParameters, scope: Scope): TableRow[] {
		const { conditions = [] } = filters as { conditions?: Array<{ keyName: string; condition: string; keyValue: unknown }> };
		const tests = conditions.map(({ keyName, condition, keyValue }) => {
			const value = valueOf(keyValue, scope);
			if (condition === 'ilike') return (row: TableRow) => String(row[keyName]).toLowerCase() === String(value).toLowerCase();
			return (row: TableRow) => isSame(row[keyName], value);
		});
		return table.rows.filter((row) => (matchType === 'anyCondition' ? tests.some((is) => is(row)) : tests.every((is) => is(row))));
	}

	function edit(parameters: INodeParameters, scope: Scope): TableRow[] {
		const found = rowsOf(parameters, scope);
		const { value = {} } = (parameters.columns ?? {}) as { value?: IDataObject };
		const values = Object.fromEntries(Object.entries(value).map(([name, text]) => [name, valueOf(text, scope)])) as IDataObject;
		if (parameters.operation === 'get') return found.map((row) => ({ ...row }));
		if (parameters.operation === 'deleteRows') table.rows = table.rows.filter((row) => !found.includes(row));
		else if (found.length > 0) return found.map((row) => ({ ...table.change(row, values) }));
		else if (parameters.operation === 'upsert') return [{ ...table.add(values) }];
		return found;
	}

	end(node(trigger), [first.map((json) => createItem(node(trigger), json))]);
	for (let next = waiting.shift(); next; next = waiting.shift()) {
		const { node: at, items } = next;
		const { parameters } = at;
		switch (at.type.split('.').at(-1)) {
			case 'dataTable': {
				if (parameters.resource === 'table') {
					end(at, [[createItem(at, {})]]);
					break;
				}
				const rows: Item[] = [];
				for (const item of at.executeOnce ? items.slice(0, 1) : items) {
					yield;
					rows.push(...edit(parameters, scopeOf(at, items, item)).map((row) => createItem(at, row, item)));
				}
				end(at, [rows.length === 0 && at.alwaysOutputData ? [createItem(at, {})] : rows]);
				break;
			}
			case 'code': {
				const code = parameters.jsCode as string;
				const each = (item: Item) => createItem(at, run(code, scopeOf(at, items, item)) as IDataObject, item);
				if (parameters.mode === 'runOnceForEachItem') end(at, [items.map(each)]);
				else end(at, [(run(code, scopeOf(at, items)) as Array<{ json: IDataObject }>).map(({ json }) => createItem(at, json))]);
				break;
			}
			case 'if':
			case 'switch': {
				type Rule = { conditions: Array<{ leftValue: unknown; rightValue: unknown }> };
				const { conditions, rules } = parameters as unknown as { conditions: Rule; rules?: { values: Array<{ conditions: Rule }> } };
				const all = rules ? rules.values.map((rule) => rule.conditions.conditions[0]!) : [conditions.conditions[0]!];
				const place = (item: Item): number => {
					const i = all.findIndex(({ leftValue, rightValue }) => valueOf(leftValue, scopeOf(at, items, item)) === rightValue);
					return i === -1 ? all.length : i;
				};
				end(at, [...all, undefined].map((_, i) => items.filter((item) => place(item) === i).map((item) => createItem(at, item.json, item))));
				break;
			}
			case 'crmPlatformSync': {
				yield;
				const outputs = await sync(at, items.map(({ json }) => json));
				end(at, outputs.map((output) => output.map(({ json, item }) => createItem(at, json, items[item]))));
				break;
			}
			default:
				end(at, [items.map((item) => createItem(at, item.json, item))]);
		}
	}
}
