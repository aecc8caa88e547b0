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
import { affectedRecords, EarlierAttempts, timesRepeated, type ItemWrite, type WriteRequest } from './runState';
import { hasWriteOncePer, sendAlone, sendUnderKey, writeOncePer, writtenRecord, type Written } from './sendAlone';

/** What all slices of a run share. */
interface SlicedRun extends Pick<Writes, 'description' | 'output'> {
	run: NodeRun;
	attempts: EarlierAttempts;
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
	// The user's Batch Size; without it, as many as the service accepts.
	const chosen = parseWholeNumber('Batch Size', run.n8n.getNodeParameter('options.batchSize', 0, 0), { otherwise: 0 });
	const requested = isOncePer ? 1 : chosen || Infinity;
	const { batch } = description;
	const attempts = new EarlierAttempts(run, writes);
	const size = attempts.sliceSize(batch && !areAlone ? Math.min(requested, batch.maximum) : 1);
	const untaken = new Map(writes.map((write, item) => [item, attempts.writeNow(item, write)] as const));
	const slicedRun: SlicedRun = { run, attempts, description, output, untaken, turns: new Turns(), usesBatches: size > 1 };
	return {
		size,
		atOnce: requested === 1 && size === 1 && !isOncePer ? 1 : slicesAtOnce,
		handle: async (items, mayContinue) => await sendSlice(slicedRun, items, mayContinue),
	};
}

/**
 * Sends the writes of a slice, after earlier ones that change the same records: its requests one after another; one that is
 * too large for the service, in halves. What the CRM refused in an answer that it has repeated is sent again at once, under a
 * further key: the cause may be gone.
 */
async function sendSlice(slicedRun: SlicedRun, items: number[], mayContinue: MayContinue): Promise<Results> {
	const { run, attempts, output, untaken, turns, usesBatches } = slicedRun;
	const slice = items.map((item) => ({ item, write: untaken.get(item)! }));
	for (const item of items) untaken.delete(item);
	const records = new Set(slice.flatMap(({ write }) => affectedRecords(write, usesBatches)));
	// Two writes with one value wait for each other; an invalid one fails when it is sent.
	if (hasWriteOncePer(run)) for (const item of items) records.add(`once per ${String(resultOrError(() => writeOncePer(run, item)))}`);
	const endTurn = await turns.begin(records);
	try {
		const results = new Map<number, Result | Error>();
		const requests = requestsIn(slicedRun, slice);
		while (requests.length > 0 && (requests[0]!.refusedIn || mayContinue([...results.values()]))) {
			const request = requests.shift()!;
			const { writes, refusedIn } = request;
			const answer = await sendTogether(slicedRun, request);
			if (answer === undefined) {
				if (!refusedIn) requests.unshift(...chunks(writes, Math.ceil(writes.length / 2)).map((half) => ({ writes: half })));
				continue;
			}
			for (const [i, { item, write }] of writes.entries()) {
				results.set(item, resultOrError(() => outputOfWrite(output, orThrow(answer.results[i]!), write)));
			}
			const isRefused = (item: number) => isCertainlyUnwritten(results.get(item));
			attempts.end(answer.isAnswered ? request : refusedIn, isRefused);
			if (answer.isRepeated) requests.unshift(...refusedBefore(attempts, request, isRefused));
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
 * The writes of each request: those of one collection and description. Items that an earlier attempt sent together stay
 * together, even if more items are readable now: under another key, they would be written again. They come first, as new
 * items are later ones of their records.
 */
function requestsIn({ description, usesBatches, attempts }: SlicedRun, slice: Array<{ item: number; write: Write | Error }>): WriteRequest[] {
	const requests = new Map<string, ItemWrite[]>();
	const sent = usesBatches ? attempts.order : [];
	const writable = slice.flatMap(({ item, write }) =>
		(write instanceof Error ? [] : [{ item, write, earlierBatch: attempts.batchWith({ item, write }) ?? '' }]));
	const rankOf = (batch: string) => (batch === '' ? sent.length : sent.indexOf(batch));
	for (const { item, write, earlierBatch } of writable.sort((a, b) => rankOf(a.earlierBatch) - rankOf(b.earlierBatch))) {
		const { method, batch } = write.description ?? description;
		const request = usesBatches && batch ? `${write.collection} ${method} ${earlierBatch}` : String(item);
		getOrCreate(requests, request, () => []).push({ item, write });
	}
	// A slice may be larger than a batch of another description.
	return [...requests.values()].flatMap((together) =>
		chunks(together, (together[0]!.write.description ?? description).batch?.maximum ?? 1).map((writes) => ({ writes })));
}

/** The result of each write of a request. */
interface Answer {
	results: Array<Written | Error>;
	/** Whether the service has answered, so that what it refused is certain. */
	isAnswered: boolean;
	/** Whether the answer to a batch is that of an earlier attempt. */
	isRepeated?: boolean | undefined;
}

/** Sends a request of a slice, unless earlier attempts forbid it. @returns undefined if it is too large for the service */
async function sendTogether({ run, attempts, description: usual }: SlicedRun, request: WriteRequest): Promise<Answer | undefined> {
	const { writes, refusedIn } = request;
	const [{ item: firstItem, write: first }] = writes as [ItemWrite];
	const description = first.description ?? usual;
	const isBatch = writes.length > 1 || refusedIn !== undefined;
	try {
		attempts.begin(request);
		if (isBatch) return await sendBatch(run, description, request);
		return { results: [await sendAlone(run, description, first, [firstItem])], isAnswered: true };
	} catch (error) {
		// Divided otherwise, what may have been written before would be written again.
		const isUnwritten = isCertainlyUnwritten(error) && attempts.forget(request);
		if (isBatch && isUnwritten && isAnsweredWith(error, tooLarge)) return undefined;
		const failure = error instanceof NodeApiError ? attempts.failureOf(error, writes.map(({ item }) => item)) : (error as Error);
		return { results: writes.map(() => failure), isAnswered: false };
	}
}

async function sendBatch(run: NodeRun, description: WriteDescription, request: WriteRequest): Promise<Answer> {
	const { writes } = request;
	const batch = description.batch!;
	const { collection, query, creates } = writes[0]!.write;
	const areNew = writes.every(({ write }) => write.id === undefined && write.creates !== 'ifNoneMatches');
	const bodies = writes.map(({ write: { id, version, body } }) => ({
		...body,
		...(id !== undefined && { id }),
		...(version !== undefined && batch.takesVersion && { version }),
	}));
	const repeated = timesRepeated(request);
	// No item has a negative number.
	const keyNumbers = [...writes.map(({ item }) => item), ...(repeated > 0 ? [-repeated] : [])];
	const areRepeatable = writes.every(({ write: { id } }) => id !== undefined);
	const post: ApiRequest = { method: 'POST', path: collection + batch.path, body: { [batch.items]: bodies }, query };
	const response = await sendUnderKey(run, batch, post, { keyNumbers, isAddition: creates === 'addition' }, areRepeatable);
	const results = batchAnswers(response, bodies, areNew).map((answer, i): Written | Error => {
		if ('problem' in answer) return run.api.failure(answer.problem);
		const record = writtenRecord(run, description, writes[i]!.write.id, answer);
		return record instanceof Error ? record : { record, status: answer.status };
	});
	return { results, isAnswered: true, isRepeated: response.isReplayed };
}

/** More attempts than people make: a service may call each of its answers repeated. */
const maxRepeated = 20;

/** The requests that repeat what an earlier attempt saw refused within a batch: those of earlier attempts, then all that is not overtaken. */
function refusedBefore(attempts: EarlierAttempts, refusedIn: WriteRequest, isRefused: (item: number) => boolean): WriteRequest[] {
	const { writes } = refusedIn;
	const repeated = timesRepeated(refusedIn);
	// A first attempt's repeated answers are its own.
	if (repeated >= maxRepeated || attempts.batchWith(writes[0]!, repeated) === undefined) return [];
	const refused = writes.filter(({ item }) => isRefused(item));
	const requests = new Map<string | undefined, ItemWrite[]>();
	for (const itemWrite of refused) getOrCreate(requests, attempts.batchWith(itemWrite, repeated + 1), () => []).push(itemWrite);
	const itemCounts = occurrences(refused.flatMap(({ write }) => affectedRecords(write)));
	const others = (requests.get(undefined) ?? []).filter((itemWrite, _, unsent) =>
		!attempts.hasOvertaken(itemWrite, unsent)
		&& (requests.size === 1 || affectedRecords(itemWrite.write).every((record) => itemCounts.get(record) === 1)));
	requests.delete(undefined);
	return [...requests.values(), others].filter((request) => request.length > 0).map((request) => ({ writes: request, refusedIn }));
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
