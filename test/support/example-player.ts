import { compileFunction } from 'node:vm';

import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';

import type { Workflow } from '../../demo/n8n-client.ts';

/** An item, and its source items by the names of the nodes that returned them. */
interface Item {
	json: IDataObject;
	from: Record<string, IDataObject>;
}

interface TableRow extends IDataObject {
	id: number;
	updatedAt: string;
}

/** A table as n8n's Data Table node sees it. */
export class ExampleTable {
	rows: TableRow[] = [];
	private ids = 0;
	private time = Date.now();

	/** A time after the previous one, even within a millisecond. */
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

type Sync = (node: INode, items: IDataObject[]) => Promise<Array<Array<{ json: IDataObject; item: number }>>>;

/**
 * Plays an execution of an example in n8n's order (v1): the upper branch to its end, then the next. It pauses
 * before each effect, so that anything may happen between two effects.
 *
 * @param first items of the trigger
 * @param sync runs CRM Platform Sync: returns the items of each output, with the index of their input item
 */
export const playExample = (
	workflow: Workflow,
	trigger: string,
	first: IDataObject[],
	table: ExampleTable,
	sync: Sync,
): AsyncGenerator<void, void> => new ExamplePlayer(workflow, table, sync).play(trigger, first);

const createItem = (node: INode, json: IDataObject, source?: Item): Item => ({ json, from: { ...source?.from, [node.name]: json } });

class ExamplePlayer {
	private readonly runs = new Map<string, Item[][]>();
	private readonly waiting: Array<{ node: INode; items: Item[] }> = [];
	private readonly workflow: Workflow;
	private readonly table: ExampleTable;
	private readonly sync: Sync;

	constructor(workflow: Workflow, table: ExampleTable, sync: Sync) {
		this.workflow = workflow;
		this.table = table;
		this.sync = sync;
	}

	async *play(trigger: string, first: IDataObject[]): AsyncGenerator<void, void> {
		const node = this.node(trigger);
		this.end(node, [first.map((json) => createItem(node, json))]);
		for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
			this.end(next.node, yield* this.outputsOf(next.node, next.items));
		}
	}

	private node(name: string): INode {
		return this.workflow.nodes.find((candidate) => candidate.name === name)!;
	}

	private end(done: INode, outputs: Item[][]): void {
		const items = outputs[0] ?? [];
		this.runs.set(done.name, [...(this.runs.get(done.name) ?? []), items]);
		const next = (this.workflow.connections[done.name]?.main ?? []).flatMap((links, i) =>
			(links ?? []).flatMap((link) => (outputs[i]?.length ? [{ node: this.node(link.node), items: outputs[i] }] : [])),
		);
		this.waiting.unshift(...next.sort((a, b) => a.node.position[1] - b.node.position[1]));
	}

	private async *outputsOf(node: INode, items: Item[]): AsyncGenerator<void, Item[][]> {
		switch (node.type.split('.').at(-1)) {
			case 'dataTable':
				return yield* this.tableOutputs(node, items);
			case 'code':
				return this.codeOutputs(node, items);
			case 'if':
			case 'switch':
				return this.branchOutputs(node, items);
			case 'crmPlatformSync': {
				yield;
				const outputs = await this.sync(node, items.map(({ json }) => json));
				return outputs.map((output) => output.map(({ json, item }) => createItem(node, json, items[item])));
			}
			default:
				return [items.map((item) => createItem(node, item.json, item))];
		}
	}

	private *tableOutputs(node: INode, items: Item[]): Generator<void, Item[][]> {
		const { parameters } = node;
		if (parameters.resource === 'table') return [[createItem(node, {})]];
		const rows: Item[] = [];
		for (const item of node.executeOnce ? items.slice(0, 1) : items) {
			yield;
			rows.push(...this.edit(parameters, this.scopeOf(node, items, item)).map((row) => createItem(node, row, item)));
		}
		return [rows.length === 0 && node.alwaysOutputData ? [createItem(node, {})] : rows];
	}

	private codeOutputs(node: INode, items: Item[]): Item[][] {
		const code = node.parameters.jsCode as string;
		if (node.parameters.mode === 'runOnceForEachItem') {
			return [items.map((item) => createItem(node, run(code, this.scopeOf(node, items, item)) as IDataObject, item))];
		}
		return [(run(code, this.scopeOf(node, items)) as Array<{ json: IDataObject }>).map(({ json }) => createItem(node, json))];
	}

	private branchOutputs(node: INode, items: Item[]): Item[][] {
		type Rule = { conditions: Array<{ leftValue: unknown; rightValue: unknown }> };
		const { conditions, rules } = node.parameters as unknown as { conditions: Rule; rules?: { values: Array<{ conditions: Rule }> } };
		const branches = rules ? rules.values.map((rule) => rule.conditions.conditions[0]!) : [conditions.conditions[0]!];
		const branchOf = (item: Item): number => {
			const scope = this.scopeOf(node, items, item);
			const i = branches.findIndex(({ leftValue, rightValue }) => valueOf(leftValue, scope) === rightValue);
			return i === -1 ? branches.length : i;
		};
		return [...branches, undefined].map((_, i) =>
			items.filter((item) => branchOf(item) === i).map((item) => createItem(node, item.json, item)),
		);
	}

	private scopeOf(node: INode, items: Item[], item = items[0]!): Scope {
		return {
			$json: item.json,
			$input: { all: () => items, item },
			$: (name: string) => ({
				all: (...[, index = -1]: Array<number | undefined>) => this.runs.get(name)!.at(index)!,
				item: { json: item.from[name] },
			}),
			$runIndex: this.runs.get(node.name)?.length ?? 0,
		};
	}

	private rowsOf({ filters, matchType }: INodeParameters, scope: Scope): TableRow[] {
		const { conditions = [] } = filters as { conditions?: Array<{ keyName: string; condition: string; keyValue: unknown }> };
		const tests = conditions.map(({ keyName, condition, keyValue }) => {
			const value = valueOf(keyValue, scope);
			if (condition === 'ilike') return (row: TableRow) => String(row[keyName]).toLowerCase() === String(value).toLowerCase();
			return (row: TableRow) => isSame(row[keyName], value);
		});
		return this.table.rows.filter((row) => (matchType === 'anyCondition' ? tests.some((is) => is(row)) : tests.every((is) => is(row))));
	}

	private edit(parameters: INodeParameters, scope: Scope): TableRow[] {
		const { table } = this;
		const found = this.rowsOf(parameters, scope);
		const { value = {} } = (parameters.columns ?? {}) as { value?: IDataObject };
		const values = Object.fromEntries(Object.entries(value).map(([name, text]) => [name, valueOf(text, scope)])) as IDataObject;
		if (parameters.operation === 'get') return found.map((row) => ({ ...row }));
		if (parameters.operation === 'deleteRows') table.rows = table.rows.filter((row) => !found.includes(row));
		else if (found.length > 0) return found.map((row) => ({ ...table.change(row, values) }));
		else if (parameters.operation === 'upsert') return [{ ...table.add(values) }];
		return found;
	}
}
