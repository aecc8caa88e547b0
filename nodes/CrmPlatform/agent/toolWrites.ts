import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { isAnsweredWith } from '../api/fetchRecord';
import type { ApiRequest } from '../api/http/request';
import type { Field } from '../fields/field';
import { etagOf } from '../writing/replace';
import type { Execution, Operation } from '../model';
import { outputValue, type OutputField } from '../reading/simplify';
import { UnclearName } from '../mapping/linkedIds';
import { locatorValue } from '../mapping/locator';
import { isName } from '../mapping/nameSyntax';
import { choiceOf, readParts } from '../mapping/recordParts';
import { describedWrite } from '../writing/describedOperation';
import { nodeFailure } from '../failure';
import { nameExisting } from '../writing/existingRecord';
import { checkedToken, isServiceVersion, isUnchanged, tokenFor } from './approval';
import { inSentences } from '../toolAnswer';
import type { ToolAnswer } from './readingTools';
import { fieldsOfKind } from './toolFields';
import { executionFor, runOperation, withGate, type ToolRun } from './toolRun';
import { changesNothing, meaningOf, repeatedInWords, writeInWords, type PlannedWrite } from './toolPreview';
import type { NamedRecord } from './toolRecords';
import type { ToolKind } from './toolSettings';

/** One write that the model requests. */
export interface RequestedWrite {
	kind: ToolKind;
	operation: Operation;
	parameters: Record<string, unknown>;
	fields?: IDataObject;
	target?: NamedRecord;
	/** Details beyond the values. */
	more?: string;
}

/** Thrown in place of a write that is only planned. */
class Planned extends Error {
	readonly request: ApiRequest;

	constructor(request: ApiRequest) {
		super('planned');
		this.request = request;
	}
}

/**
 * Does the writes: all are prepared before any is sent, so that a value that is refused here leaves nothing
 * half done. With Ask Before Writing, the first call returns a preview, and the call with its token writes.
 *
 * @throws Error in the model's words; nothing was written unless the error says so
 */
export async function doWrites(run: ToolRun, wanted: RequestedWrite[], token: string | undefined, now = Date.now()): Promise<ToolAnswer> {
	const planned: PlannedWrite[] = [];
	for (const one of wanted) planned.push(await plan(run, one));
	const { asksFirst, maxLength } = run.settings;
	const wordsOf = async (isWhole: boolean) => await Promise.all(planned.map(async (one) => await writeInWords(run, one, isWhole)));
	const preview = async (reason = ''): Promise<ToolAnswer> => {
		const data = [{ preview: (await wordsOf(true)).join('. '), token: tokenFor(run, planned, now) }];
		const note = `${reason}${reason && ' '}Nothing is written yet. Show the preview; once the user agrees, call again with the same arguments and this token.`;
		if (JSON.stringify([...data, { note }]).length > maxLength) throw new Error(`${tooLong(maxLength)} It begins: ${data[0]!.preview.slice(0, 100)}…`);
		return { data, notes: [note] };
	};
	const words = await wordsOf(false);
	if (!asksFirst) return await send(run, wanted, planned, words);
	const asked = async (reason?: string) => (planned.every(changesNothing) ? unchanged(words) : await preview(reason));
	if (token === undefined) return await asked();
	const checked = checkedToken(run, planned, token, now);
	const missing = planned.find(({ target }) => target?.notFound)?.target?.notFound;
	if (typeof checked === 'string') {
		if (missing) throw missing;
		return await asked(checked);
	}
	// Otherwise the writes before a changed record would be carried out.
	if (wanted.length > 1 && planned.some((one, i) => !one.target?.notFound && !isUnchanged(one, checked.versions[i]))) {
		if (missing) throw new Error(`Another of the records has changed since the preview. ${missing.message}`);
		return await preview(changed);
	}
	// The same token is the same write, in whichever call: the service does it once.
	const approved: ToolRun = { ...run, identity: { execution: '', node: 'approved', run: checked.text } };
	const results = send(approved, wanted, planned, words, checked.versions);
	return await results.catch(async (error: Error) => {
		if (!(error instanceof ChangedSince || isAnsweredWith(error, 412))) throw error;
		return await asked(changed);
	});
}

const changed = 'A record has changed since the preview: someone else changed it, or this write was already made with the same token.';

const tooLong = (maxLength: number): string =>
	`The preview is longer than the ${maxLength} characters of an answer, and what is not shown cannot be approved. Send fewer records or shorter values at a time; the workflow’s author can raise Maximum Answer Length.`;

class ChangedSince extends Error {}

/** Some of the writes were carried out before one failed. */
export class PartlyDone extends Error {}

function partlyDone(failed: Error, words: string[], place: number): string {
	const why = failed instanceof ChangedSince || isAnsweredWith(failed, 412) ? 'the record has changed since the preview.' : failed.message;
	const left = words.length - place - 1;
	return [
		...(place > 0 ? [`Done: ${words.slice(0, place).join('. ')}.`] : []),
		mayBeDone(failed) ? `May have been done; check first: ${words[place]}. The response was: ${inSentences(why)}` : `Not done: ${words[place]}, since ${inSentences(why)}`,
		...(left > 0 ? [left === 1 ? 'One more was not tried.' : `${left} more were not tried.`] : []),
	].join(' ');
}

/** Whether a write that failed may have been carried out. */
const mayBeDone = (error: Error): boolean => error instanceof NodeApiError && error.context.mayBeDone === true;

const unchanged = (words: string[]): ToolAnswer => ({ data: [{ done: 'nothing' }], notes: [`The record has these values already: ${words.join('. ')}`] });

async function plan(run: ToolRun, one: RequestedWrite): Promise<PlannedWrite> {
	const api = withGate(run.api, (request) => {
		throw new Planned(request);
	});
	const before = new Set(run.api.notices);
	const execution = executionOf({ ...run, api }, one);
	const outcome = await runOperation(execution).then(() => undefined, (error: Error) => error);
	const unsent = [...run.api.notices].filter((notice) => !before.has(notice) && notice.startsWith('Not sent'));
	if (unsent.length > 0) throw new Error(await unsentInWords(execution, unsent));
	if (!(outcome instanceof Planned)) throw outcome ?? new Error('There is nothing to write. Send values.');
	const { kind, operation, target, more } = one;
	await refuseNames(run, one, outcome.request);
	const meaning = await meaningOf(run, kind, (outcome.request.body ?? {}) as IDataObject);
	return { kind, meaning, operation, request: outcome.request, ...(target && { target }), ...(more !== undefined && { more }) };
}

/**
 * The node sends an unknown name, as it may be an id in some services. From a model it is a name, so it is
 * refused.
 *
 * @throws UnclearName
 */
async function refuseNames(run: ToolRun, { kind, fields = {}, parameters }: RequestedWrite, { body = {} }: ApiRequest): Promise<void> {
	const given = new Set([...Object.values(fields), ...Object.values(parameters).map(locatorValue)].flat());
	const all = await fieldsOfKind(run, kind);
	const valueOf = (field: Field | undefined): unknown[] => (field ? [outputValue(body as IDataObject, field.path as OutputField['path'])].flat() : []);
	for (const field of all) {
		const { reference, part, label } = field;
		const name = valueOf(field).find((one) => reference !== undefined && given.has(one) && isName(field, one));
		if (name === undefined || reference === undefined) continue;
		const message = `${label}: there is no record of ${part ?? reference} called ${String(name)}.`;
		if (part === undefined) throw new UnclearName(message, reference, String(name), []);
		const owner = all.find((other) => other.reference === reference && other.part === undefined);
		throw new Error(`${message} ${choiceOf(await readParts(run.api, reference, part), valueOf(owner).filter((one) => one !== undefined))}`);
	}
}

/** Explains to a model which values were not sent: other operations may accept the field. */
async function unsentInWords(execution: Execution, unsent: string[]): Promise<string> {
	const { name } = execution.operation.option;
	const known = (await describedWrite(execution)).fields.map((field) => field.name);
	const said = unsent.map((notice) => notice.replace(/^Not sent because the service has no such field: (.*)\. Correct the names.*$/, `${name} does not take $1.`));
	return `${said.join(' ')} ${name} takes ${known.slice(0, 60).join(', ')}.`;
}

const executionOf = (run: ToolRun, { kind, operation, parameters, fields }: RequestedWrite): Execution => executionFor(run, kind, operation, parameters, fields);

async function send(run: ToolRun, wanted: RequestedWrite[], planned: PlannedWrite[], words: string[], versions?: string[]): Promise<ToolAnswer> {
	const done: IDataObject[] = [];
	for (const [i, one] of wanted.entries()) {
		if (one.target?.notFound) {
			done.push({ done: `${words[i]!} has already been deleted` });
			continue;
		}
		const sending = sendOne(run, one, planned[i]!, i, versions?.[i]);
		const failed = await sending.then(() => undefined, (error: Error) => error);
		if (failed) throw done.length > 0 || (wanted.length > 1 && mayBeDone(failed)) ? new PartlyDone(partlyDone(failed, words, i)) : failed;
		const { record, isRepeated } = await sending;
		const { id, name, title, subject } = record;
		const called = Object.fromEntries(Object.entries({ name, title, subject }).filter(([, value]) => typeof value === 'string' && value !== ''));
		const said = isRepeated ? await repeatedInWords(run, planned[i]!, String(one.target?.id ?? id)) : words[i]!;
		done.push({ done: said, ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}), ...(one.target || isRepeated ? {} : called) });
	}
	return { data: done, notes: [] };
}

async function sendOne(run: ToolRun, one: RequestedWrite, planned: PlannedWrite, place: number, version: string | undefined): Promise<{ record: IDataObject; isRepeated: boolean }> {
	const numbered = place === 0 ? run.identity : { ...run.identity, run: `${run.identity.run}/${place}` };
	const isConditional = version !== undefined && planned.target !== undefined;
	const { takesIfMatch } = await describedWrite(executionOf(run, one));
	const byService = isConditional && takesIfMatch === true && isServiceVersion(planned, version);
	if (isConditional && !byService && !isUnchanged(planned, version)) throw new ChangedSince();
	let isRepeated = false;
	const gate = (request: ApiRequest): ApiRequest => {
		if (JSON.stringify(request.body) !== JSON.stringify(planned.request.body) || request.path !== planned.request.path) throw new ChangedSince();
		return byService ? { ...request, headers: { ...request.headers, 'if-match': etagOf(version) } } : request;
	};
	const api = withGate(run.api, gate, ({ headers }) => {
		isRepeated = headers['idempotent-replayed'] === 'true' && planned.operation.option.value !== 'delete';
	});
	const execution = executionOf({ ...run, api, identity: numbered }, one);
	const records = runOperation(execution);
	const failed = await records.then(() => undefined, (error: Error) => error);
	if (!failed) return { record: (await records)[0] ?? {}, isRepeated };
	if (failed instanceof ChangedSince) throw failed;
	throw await nameExisting(execution)(nodeFailure(run.n8n, failed, 0), 0);
}
