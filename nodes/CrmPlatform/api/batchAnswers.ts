import type { IDataObject } from 'n8n-workflow';

import { idText, isObject } from '../base/json';
import { wholeNumber } from '../base/numbers';
import { describesFailure, problemOfItem, saysError, withLine, withRequestId, type Problem } from './http/problem';
import type { ApiResponse } from './http/request';
import { attemptMayBeDone } from './http/retry';
import { breaksRule } from './http/rules';

/** The answer for one record: the returned record, if any, and the HTTP status; or why it was not written. */
type BatchAnswer = { record: IDataObject | undefined; status: number } | { problem: Problem };

/** The answer for each record of a batch, in their order. @param areNew whether each becomes a record of its own */
export function batchAnswers({ body, headers }: Pick<ApiResponse, 'body' | 'headers'>, items: IDataObject[], areNew: boolean): BatchAnswer[] {
	const answers = answersByItem(body, items, areNew);
	return items.map((_, item) => {
		const answer = answers.get(item);
		return answer ? batchAnswer(answer, headers) : { problem: withRequestId(unmentioned, headers['x-request-id']) };
	});
}

function batchAnswer({ id, status, data, error }: ItemAnswer, headers: ApiResponse['headers']): BatchAnswer {
	const isDone = status >= 200 && status < 300;
	if (isDone && !saysError(error) && !describesFailure(data)) {
		const record = id === undefined || idText(data?.id) !== undefined ? data : { ...data, id };
		return { record, status };
	}
	const problem = problemOfItem(isDone ? 422 : status, saysError(error) ? error : data, headers);
	// Items have no Retry-After, so a 503 does not prove that nothing was written (RFC 9110, section 15.6.4).
	const isUncertain = isDone || attemptMayBeDone({ status, headers: {} });
	return { problem: isUncertain ? { ...withLine(problem, mayBeWritten), mayBeDone: true } : problem };
}

export const mayBeWritten = 'It may have been written. Check the record before you try again.';

const unmentioned: Problem = {
	message: 'The CRM returned no result for this record',
	description: `The response does not have one result for each index, or contradicts itself. ${breaksRule(13)} ${mayBeWritten}`,
	details: {},
	mayBeDone: true,
};

export interface ItemAnswer {
	/** As text, whether the service writes it as a text or as a number. */
	id: string | undefined;
	status: number;
	data: IDataObject | undefined;
	error: unknown;
}

/**
 * The answers in the body of a response (rule 13), by the index of their item. If they contradict themselves (rule 20), none
 * of them counts: an index that is missing, is no item's or comes twice; an answer without a status; the ID of another
 * record; with `areNew`, one record for two items. The result of an item without an answer is reported as unknown.
 */
export function answersByItem(body: unknown, items: IDataObject[], areNew: boolean): Map<number, ItemAnswer> {
	const results: unknown[] = isObject(body) && Array.isArray(body.results) ? body.results : [];
	const answers = new Map<number, ItemAnswer>();
	const created = new Set<string>();
	for (const result of results) {
		// Parsed by hand: for 100,000 answers, zod takes as long as all requests.
		const { index: rawIndex, status: code, id: ownId, data, error } = isObject(result) ? result : {};
		const [index, status] = [wholeNumber(rawIndex), wholeNumber(code)];
		const record = isObject(data) ? data : undefined;
		const id = idText(ownId) ?? idText(record?.id);
		const item = items[index ?? -1];
		if (index === undefined || status === undefined || !item || answers.has(index)) return new Map();
		const itemId = idText(item.id);
		if (itemId !== undefined && id !== undefined && id !== itemId) return new Map();
		if (areNew && id !== undefined && status < 300) {
			if (created.has(id)) return new Map();
			created.add(id);
		}
		answers.set(index, { id, status, data: record, error });
	}
	return answers;
}
