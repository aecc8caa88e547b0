import type { IDataObject } from 'n8n-workflow';

import { sendBatch, type BatchAnswer } from '../api/batchRequest';
import { isAnsweredWith } from '../api/record';
import { rateLimited, tooLarge, unavailable } from '../api/http/statuses';
import type { BatchDescription, WriteDescription } from '../api/openapi/writing';
import { fieldsOfNumbers } from '../mapping/acceptedFields';
import type { Execution, MayContinue, Result, ResultFrom, Results, Write } from '../model';
import { exactBody } from '../fields/exactBody';
import { etagOf, isReadFirst, writeAsRead } from './replace';
import { pinBatching, keyHeaderOf, reportReplay, sentRequests, type SentRequests } from './runState';
import { idempotencyOf, warnOfRetries, writeOne, writtenRecord } from './writeOne';
import { sharesRecord } from './writeOrder';

interface WriterOptions {
	/** Undefined if each record is sent alone. */
	batch: BatchDescription | undefined;
	usesBatches: boolean;
	resultFrom: ResultFrom;
	/** The result of an item whose write failed. */
	onRefusal(error: Error, item: number): Result | Error;
}

/** Sends the writes of a run's items, alone or in batches. */
export class RecordWriter {
	/** Which items were sent together, by this attempt and earlier ones. */
	readonly requestLog: SentRequests;
	private readonly execution: Execution;
	private readonly description: WriteDescription;
	private readonly options: WriterOptions;

	constructor(execution: Execution, description: WriteDescription, options: WriterOptions) {
		this.execution = execution;
		this.description = description;
		this.options = options;
		this.requestLog = sentRequests(execution);
	}

	/** Writes a record alone. */
	async writeAlone(write: Write, item: number): Promise<Result | Error> {
		const { description } = this;
		const { batch, resultFrom, onRefusal } = this.options;
		const { version, body, deletion } = write;
		const identity = { ...this.execution.identity, ...(deletion !== undefined && { deletion }) };
		const execution: Execution = { ...this.execution, identity };
		pinBatching(execution);
		try {
			if (isReadFirst(description, write)) {
				const { record, ...answer } = await writeAsRead(execution, description, write, [item]);
				return resultFrom(record, item, { ...answer, body });
			}
			const needsBatchForVersion = version !== undefined && !description.takesIfMatch && batch?.takesVersion;
			if (needsBatchForVersion) {
				const [answer] = await this.answersTo(batch, [write], [item]);
				return this.resultOf(answer!, write, item);
			}
			const headers = version !== undefined && description.takesIfMatch ? { headers: { 'if-match': etagOf(version) } } : {};
			const { record, ...answer } = await writeOne(execution, description, { ...write, ...headers }, [item]);
			return resultFrom(record, item, { ...answer, body });
		} catch (error) {
			return onRefusal(error as Error, item);
		}
	}

	/** Writes records that share path and query, with one request if the service accepts batches. */
	async writeTogether(writes: Write[], items: number[], mayContinue: MayContinue): Promise<Results> {
		const [first] = writes;
		if (!first) return [];
		const { batch, usesBatches, onRefusal } = this.options;
		pinBatching(this.execution);
		if (usesBatches) this.requestLog.add(items);
		try {
			if (!batch || writes.length === 1) return [await this.writeAlone(first, items[0] ?? 0)];
			return await this.resultsOf(await this.answersTo(batch, writes, items), writes, items, mayContinue);
		} catch (error) {
			if (!isAnsweredWith(error, tooLarge) || writes.length === 1) return items.map((item) => onRefusal(error as Error, item));
			this.requestLog.remove(items);
			return await this.writeInHalves(writes, items, mayContinue);
		}
	}

	private async writeInHalves(writes: Write[], items: number[], mayContinue: MayContinue): Promise<Results> {
		const half = Math.ceil(writes.length / 2);
		const results = await this.writeTogether(writes.slice(0, half), items.slice(0, half), mayContinue);
		if (!mayContinue(results)) return results;
		return [...results, ...(await this.writeTogether(writes.slice(half), items.slice(half), mayContinue))];
	}

	private async answersTo(batch: BatchDescription, writes: Write[], items: number[]): Promise<Array<BatchAnswer | Error>> {
		const { execution, description } = this;
		const [first] = writes;
		const path = first!.collection + batch.path;
		const idempotency = idempotencyOf(execution, keyHeaderOf(execution, description, 'batch'), items);
		const fields = await fieldsOfNumbers(execution.api, first!.collection, description.fields, writes.map(({ body }) => body));
		const areNew = writes.every(({ id, mayExist }) => id === undefined && mayExist !== true);
		warnOfRetries(execution, { method: areNew ? 'POST' : 'PUT', path, ...idempotency });
		return await sendBatch(async (request) => reportReplay(execution, await execution.api.send(request)), {
			description: batch,
			path,
			items: writes.map((write) => batchItem({ ...write, ...(write.body && { body: exactBody(fields, write.body) }) }, batch)),
			areNew,
			...(first!.query && { query: first!.query }),
			...idempotency,
		});
	}

	/**
	 * The result of each item of a batch. An item that the service deferred is sent alone and under its own key, because
	 * the batch's key would always return the same response, unless that could write it twice. If the service defers that
	 * request, too, the remaining items are not tried: each would wait as long.
	 */
	private async resultsOf(
		answers: Array<BatchAnswer | Error>,
		writes: Write[],
		items: number[],
		mayContinue: MayContinue,
	): Promise<Results> {
		let maySendAlone = keyHeaderOf(this.execution, this.description, 'single')?.isGuaranteed === true;
		const results = answers.map((answer, index) =>
			this.isDeferred(answer, writes[index]!, writes) ? undefined : this.resultOf(answer, writes[index]!, items[index]!),
		);
		for (const [index, write] of writes.entries()) {
			if (results[index]) continue;
			if (maySendAlone && mayContinue(results)) {
				results[index] = await this.writeAlone(write, items[index]!);
				maySendAlone = !isAnsweredWith(results[index], rateLimited, unavailable);
			} else {
				results[index] = this.resultOf(answers[index]!, write, items[index]!);
			}
		}
		return results;
	}

	/** Whether the service deferred an item of a batch, which can be sent later without being written twice. */
	private isDeferred(answer: BatchAnswer | Error, write: Write, writes: Write[]): boolean {
		if (!('problem' in answer) || sharesRecord(write, writes)) return false;
		const { status } = answer.problem;
		return status === rateLimited || (status === unavailable && isSafeToRepeat(this.description, write));
	}

	private resultOf(answer: BatchAnswer | Error, { id, body }: Write, item: number): Result | Error {
		const { batch, resultFrom, onRefusal } = this.options;
		if (answer instanceof Error) return onRefusal(answer, item);
		if ('problem' in answer) return onRefusal(this.execution.api.failure(answer.problem), item);
		const record = writtenRecord(this.execution, { ...this.description, answersId: batch?.answersId }, id, answer);
		return record instanceof Error ? onRefusal(record, item) : resultFrom(record, item, { status: answer.status, body });
	}
}

function batchItem({ id, version, body }: Write, { takesVersion }: BatchDescription): IDataObject {
	return { ...body, ...(id !== undefined && { id }), ...(version !== undefined && takesVersion && { version }) };
}

/**
 * Whether a write that may have been done can be repeated with the same effect. A change of a specific version cannot,
 * since the version would have changed, nor a deletion, since the record would be missing.
 */
const isSafeToRepeat = ({ method }: WriteDescription, { version }: Write): boolean =>
	(method === 'PUT' || method === 'PATCH') && version === undefined;
