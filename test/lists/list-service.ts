import fc from 'fast-check';

import type { ApiRequest } from '../../nodes/CrmPlatform/api/http/request';

export interface StoredItem {
	/** Sorts as the records were created. */
	id: string;
	created_at: string;
	[field: string]: string;
}

/** What somebody else does between two requests. */
type Write = 'create' | 'delete' | 'nothing';

export const writes = fc.array(fc.constantFrom<Write>('create', 'delete', 'nothing'), {
	minLength: 1,
	maxLength: 50,
	size: 'max',
});

/** The list of a service in memory, by cursor, in the order of creation, which `sort` reverses. */
export class ListService {
	records: StoredItem[];
	readonly deleted = new Set<string>();
	/** Whether it narrows the list to the requested times. */
	filters = true;
	/** Whether `created_at[gte]` includes that instant. */
	includesFrom = true;
	/** The number of the last request that succeeds. */
	lastSuccess = Infinity;
	requests = 0;
	underWay = 0;
	maxUnderWay = 0;
	/** How many responses had to be awaited one after another. */
	rounds = 0;
	private readonly meanwhile: Write[];
	private lastNumber = 0;
	private answering: Promise<void> | undefined;

	/** @param times when its records were created, in Unix epoch milliseconds, in order */
	constructor(times: number[], meanwhile: Write[] = ['nothing']) {
		this.meanwhile = meanwhile;
		this.records = times.map((time) => this.record(time));
	}

	readonly send = async ({ query = {} }: ApiRequest) => {
		this.requests += 1;
		if (this.requests > this.lastSuccess) throw new Error('no more');
		this.underWay += 1;
		this.maxUnderWay = Math.max(this.maxUnderWay, this.underWay);
		this.write(this.meanwhile[this.requests % this.meanwhile.length]);
		const body = this.page(query as Record<string, string | undefined>);
		await this.nextAnswers();
		this.underWay -= 1;
		return { status: 200, headers: {}, body };
	};

	/** Concurrent requests are answered together. */
	private async nextAnswers(): Promise<void> {
		this.answering ??= new Promise((resolve) =>
			setImmediate(() => {
				this.answering = undefined;
				this.rounds += 1;
				resolve();
			}),
		);
		await this.answering;
	}

	private page({ sort, cursor, limit, ...query }: Record<string, string | undefined>) {
		const { 'created_at[gte]': from, 'created_at[lt]': before } = this.filters ? query : {};
		const descending = sort === '-created_at';
		const isFrom = (at: string) => !from || (this.includesFrom ? at >= from : at > from);
		const list = this.records.filter(({ created_at: at }) => isFrom(at) && (!before || at < before));
		if (descending) list.reverse();
		const rest = list.filter(({ id }) => !cursor || (descending ? id < cursor : id > cursor));
		const data = rest.slice(0, Number(limit));
		const next = rest.length > data.length ? (data.at(-1)?.id ?? null) : null;
		return { data, next_cursor: next, total: list.length };
	}

	private write(operation: Write | undefined): void {
		const { length } = this.records;
		if (operation === 'create') {
			const last = this.records.at(-1);
			this.records.push(this.record(last ? Date.parse(last.created_at) + (this.lastNumber % 2) : 0));
		}
		if (operation === 'delete' && length > 0) {
			const [gone] = this.records.splice((this.lastNumber * 7919) % length, 1);
			this.deleted.add(gone!.id);
			this.lastNumber += 1;
		}
	}

	private record(time: number): StoredItem {
		const id = String((this.lastNumber += 1)).padStart(8, '0');
		return { id, created_at: new Date(time).toISOString() };
	}
}
