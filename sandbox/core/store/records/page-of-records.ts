import { pageOf } from '../threads/page-rows.ts';
import type { Row } from '../threads/query.ts';
import type { Cell } from './columns.ts';
import type { Selection } from './record-queries.ts';

/** Records in order, as JSON texts. */
export interface RecordPage {
	documents: string[];
	/** Whether further records follow. */
	hasMore: boolean;
}

export interface ListedPage extends RecordPage {
	/** The values of the last record in the columns of the order, from which the next page continues, if any. */
	end: Cell[] | undefined;
	/** The number of records in the whole list. */
	total: number;
}

export function documentsOf(rows: Row[], limit: number): RecordPage {
	const { page, hasMore } = pageOf(rows, limit);
	return { documents: page.map(documentOf), hasMore };
}

export function listedOf(rows: Row[], { order, limit }: Selection): Omit<ListedPage, 'total'> {
	const page = documentsOf(rows, limit);
	const last = page.hasMore ? rows[page.documents.length - 1] : undefined;
	return { ...page, end: last && order.map(({ column }) => last[column] as Cell) };
}

export const documentOf = (row: Row): string => row['document'] as string;
