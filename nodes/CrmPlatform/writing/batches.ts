import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { batchAnswers } from '../api/batchAnswers';
import type { ApiRequest } from '../api/http/request';
import { tooLarge } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { upsertOutcomeField } from '../api/record';
import { isAnsweredWith, isCertainlyUnwritten } from '../api/refusals';
import { chunks } from '../base/lists';
import { orThrow, resultOrError } from '../base/results';
import { getOrCreate, occurrences } from '../base/maps';
import { ownMember, setMember } from '../base/ownMembers';
import { allCustomFields } from '../fields/field';
import type { NodeRun, MayContinue, Result, Results, Work, Write, Writes, WrittenOutput } from '../model';
import { simplify, summaryFields } from '../reading/simplify';
import { slicesAtOnce, Turns } from '../schedule';
import { parseWholeNumber } from '../values/parsers';
import { lockKeys, RememberedRequests, type ItemWrite, type RememberedRequest, type WriteRequest } from './runState';
import { hasWriteOncePer, sendAlone, sendUnderKey, writeOncePer, recordInAnswer, type Written } from './sendAlone';

/** What all slices of a run share. */
interface SlicedRun extends Pick<Writes, 'description' | 'output'> {
	run: NodeRun;
	remembered: RememberedRequests;
	/** The writes that no slice has taken yet: those of many items need much memory. */
	untaken: Map<number, Write | Error>;
	turns: Turns;
	usesBatches: boolean;
}

/**
 * Sends the writes of any operation: in batches if the service supports them, otherwise with single requests, a few at
 * a time. If the user turned batches off, requests are sent one after another.
 *
 * The items are divided into slices of as many items as one batch may have. The items of a slice usually share one
 * request; those of another collection need a further one (`requestsIn`). Slices that change the same record run one after
 * another, so that of two items for one record the later one wins.
 *
 * @param areAlone whether each write needs a request of its own
 */
export function inSlices(run: NodeRun, { writes, description, output }: Writes, areAlone = false): Work {
	const isOncePer = hasWriteOncePer(run);
	const chosen = parseWholeNumber('Batch Size', run.n8n.getNodeParameter('options.batchSize', 0, 0), { otherwise: 0 });
	const requested = isOncePer ? 1 : chosen || Infinity;
	const { batch } = description;
	const remembered = new RememberedRequests(run, writes);
	const size = remembered.sliceSize(batch && !areAlone ? Math.min(requested, batch.maximum) : 1);
	const untaken = new Map(writes.map((write, item) => [item, remembered.writeOrError(item, write)] as const));
	const slicedRun: SlicedRun = { run, remembered, description, output, untaken, turns: new Turns(), usesBatches: size > 1 };
	return {
		size,
		atOnce: requested === 1 && size === 1 && !isOncePer ? 1 : slicesAtOnce,
		handle: async (items, mayContinue) => await sendSlice(slicedRun, items, mayContinue),
	};
}

/** Sends the writes of a slice, after earlier ones that change the same records: its requests one after another. */
async function sendSlice(slicedRun: SlicedRun, items: number[], mayContinue: MayContinue): Promise<Results> {
	const { run, untaken, turns, usesBatches } = slicedRun;
	const slice = items.map((item) => ({ item, write: untaken.get(item)! }));
	for (const item of items) untaken.delete(item);
	const locks = new Set(slice.flatMap(({ write }) => lockKeys(write, usesBatches)));
	// Two writes with one value wait for each other; an invalid one fails when it is sent.
	if (hasWriteOncePer(run)) for (const item of items) locks.add(`once per ${String(resultOrError(() => writeOncePer(run, item)))}`);
	const endTurn = await turns.begin(locks);
	try {
		const results = new Map<number, Result | Error>();
		const requests = requestsIn(slicedRun, slice);
		while (requests.length > 0 && (requests[0]!.replayedRequest || mayContinue([...results.values()]))) {
			requests.unshift(...(await sendTogether(slicedRun, requests.shift()!, results)));
		}
		const inOrder = slice.map(({ item, write }) => (write instanceof Error ? write : results.get(item)));
		// Before a slice that waits for this one asks the same.
		mayContinue(inOrder);
		return inOrder;
	} finally {
		endTurn();
	}
}

/**
 * The writes of each request: those of one collection, description, query, and way to create. Items that an earlier attempt
 * sent together stay together, even if more items are readable now: under another key, they would be written again. They
 * come first, as new items are later ones of their records.
 */
function requestsIn({ description, usesBatches, remembered }: SlicedRun, slice: Array<{ item: number; write: Write | Error }>): WriteRequest[] {
	const requests = new Map<string, ItemWrite[]>();
	const writable = slice.flatMap(({ item, write }) =>
		(write instanceof Error ? [] : [{ item, write, place: remembered.earlierWith({ item, write })?.place ?? Number.MAX_SAFE_INTEGER }]));
	for (const { item, write, place } of writable.sort((a, b) => a.place - b.place)) {
		const { collection, query, creates, description: { method, batch } = description } = write;
		const request = usesBatches && batch ? JSON.stringify([collection, method, query, creates, place]) : String(item);
		getOrCreate(requests, request, () => []).push({ item, write });
	}
	// A slice may be larger than a batch of another description.
	return [...requests.values()].flatMap((together) =>
		chunks(together, (together[0]!.write.description ?? description).batch?.maximum ?? 1).map((writes) => ({ writes })));
}

/** The result of each write of a request, and whether the CRM has replayed the answer to an earlier attempt. */
interface Answer {
	results: Array<Written | Error>;
	isReplayed?: boolean | undefined;
}

/**
 * Sends a request of a slice, unless earlier attempts forbid it, and adds the results of its items.
 *
 * @returns the requests that follow: the halves of one that is too large for the service; or what the CRM refused in a
 * replayed answer, under a further key, as the cause may be gone
 */
async function sendTogether(slicedRun: SlicedRun, request: WriteRequest, results: Map<number, Result | Error>): Promise<WriteRequest[]> {
	const { run, remembered, output } = slicedRun;
	const { writes, replayedRequest } = request;
	const [first] = writes as [ItemWrite];
	const description = first.write.description ?? slicedRun.description;
	const isBatch = writes.length > 1 || replayedRequest !== undefined;
	const isRefused = (item: number) => isCertainlyUnwritten(results.get(item));
	let sent: RememberedRequest | undefined;
	let answer: Answer;
	try {
		sent = remembered.begin(request);
		answer = isBatch
			? await sendBatch(run, description, writes, sent.replays)
			: { results: [await sendAlone(run, description, first.write, [first.item])] };
	} catch (error) {
		// Divided otherwise, what may have been written before would be written again.
		const isUnwritten = sent?.isNew && isCertainlyUnwritten(error);
		if (isUnwritten) sent?.forget();
		if (isBatch && isUnwritten && isAnsweredWith(error, tooLarge)) {
			return replayedRequest ? [] : chunks(writes, Math.ceil(writes.length / 2)).map((half) => ({ writes: half }));
		}
		const failure = error instanceof NodeApiError ? remembered.failureOf(error, writes.map(({ item }) => item)) : (error as Error);
		for (const { item } of writes) results.set(item, failure);
		replayedRequest?.end(isRefused);
		return [];
	}
	for (const [i, { item, write }] of writes.entries()) {
		results.set(item, resultOrError(() => outputOfWrite(output, orThrow(answer.results[i]!), write)));
	}
	sent.end(isRefused);
	return answer.isReplayed ? requestsToRepeat(remembered, sent, writes.filter(({ item }) => isRefused(item))) : [];
}

async function sendBatch(run: NodeRun, description: WriteDescription, writes: ItemWrite[], replays: number): Promise<Answer> {
	const batch = description.batch!;
	const { collection, query, creates } = writes[0]!.write;
	const areNew = writes.every(({ write }) => write.id === undefined && write.creates !== 'ifNoneMatches');
	const bodies = writes.map(({ write: { id, version, body } }) => ({
		...body,
		...(id !== undefined && { id }),
		...(version !== undefined && batch.takesVersion && { version }),
	}));
	const keyParts = [...writes.map(({ item }) => item), ...(replays > 0 ? ['again', replays] : [])];
	const areRepeatable = writes.every(({ write: { id } }) => id !== undefined);
	const post: ApiRequest = { method: 'POST', path: collection + batch.path, body: { [batch.items]: bodies }, query };
	const response = await sendUnderKey(run, batch, post, { keyParts, isAddition: creates === 'addition' }, areRepeatable);
	const results = batchAnswers(response, bodies, areNew).map((answer, i): Written | Error => {
		if ('problem' in answer) return run.api.failure(answer.problem);
		const record = recordInAnswer(run, description, writes[i]!.write.id, answer);
		return record instanceof Error ? record : { record, status: answer.status };
	});
	return { results, isReplayed: response.isReplayed };
}

/** More attempts than people make: a service may call each of its answers replayed. */
const maxReplays = 20;

/** The requests that repeat what the replayed answer refuses: those of earlier attempts, then all that is not overtaken. */
function requestsToRepeat(remembered: RememberedRequests, replayedRequest: RememberedRequest, refused: ItemWrite[]): WriteRequest[] {
	// A first attempt's replayed answers are its own.
	if (replayedRequest.replays >= maxReplays || replayedRequest.isNew) return [];
	const requests = new Map<unknown, ItemWrite[]>();
	for (const itemWrite of refused) getOrCreate(requests, remembered.earlierWith(itemWrite, replayedRequest.replays + 1), () => []).push(itemWrite);
	const itemCounts = occurrences(refused.flatMap(({ write }) => lockKeys(write)));
	const others = (requests.get(undefined) ?? []).filter((itemWrite, _, unsent) =>
		!remembered.isOvertakenByOther(itemWrite, unsent)
		&& (requests.size === 1 || lockKeys(itemWrite.write).every((record) => itemCounts.get(record) === 1)));
	requests.delete(undefined);
	return [...requests.values(), others].filter((writes) => writes.length > 0).map((writes) => ({ writes, replayedRequest }));
}

/** The whole record, or the fields of a simplified one, as the user chose. */
export async function chosenOutput({ n8n, api, resource }: NodeRun): Promise<WrittenOutput> {
	const { fields = [], summary = [] } = (await api.describe(resource.path)) ?? {};
	const simpleFields = summaryFields(n8n, summary);
	return simpleFields ? { simplified: { fields: simpleFields, readNames: new Set(fields.map(({ name }) => name)) } } : {};
}

/**
 * What an item outputs of its written record. A simplified record also has the written values, and members that reading does
 * not return: a secret shown once, the outcome of an upsert.
 */
function outputOfWrite(output: WrittenOutput, written: Written, write: Write): IDataObject {
	const { isDeletion, simplified } = output;
	if (isDeletion) return { deleted: true };
	const record = withUpsertOutcome(output, written, write);
	if (!simplified) return record;
	const { fields, readNames } = simplified;
	const simple = simplify(record, fields);
	const isAdded = (name: string) => !readNames.has(name) || (name !== allCustomFields && Object.hasOwn(write.body ?? {}, name));
	for (const name of Object.keys(record)) if (isAdded(name)) setMember(simple, name, ownMember(record, name));
	return simple;
}

/** What the status of a response tells about the record (RFC 9110, section 9.3.4). */
const upsertOutcomes: Record<number, string> = { 200: 'updated', 201: 'created' };

/** Adds to a record whether it was created or updated, if that is output, unless it has a field of that name. */
function withUpsertOutcome({ upsertOutcome: shown }: WrittenOutput, { record, status }: Written, { id, creates }: Write): IDataObject {
	if (shown === undefined || upsertOutcomeField in record) return record;
	const ofMatched = shown === 'byStatus' ? upsertOutcomes[status] : undefined;
	const outcome = creates === 'ifNoneMatches' ? ofMatched : id === undefined ? 'created' : 'updated';
	return outcome === undefined ? record : { ...record, [upsertOutcomeField]: outcome };
}
