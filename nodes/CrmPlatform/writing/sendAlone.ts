import type { IDataObject, NodeApiError } from 'n8n-workflow';

import { mayBeWritten } from '../api/batchAnswers';
import { currentFields, readableCustomFields } from '../api/customFields';
import { idempotencyKey, valueKey, type WriteInRun } from '../api/http/idempotency';
import { isIdempotent, type ApiRequest, type ApiResponse } from '../api/http/request';
import { breaksRule } from '../api/http/rules';
import { outdatedVersion } from '../api/http/statuses';
import type { IdempotencyHeader, WriteDescription } from '../api/openapi/writing';
import { findRecord, mergePatch, otherId, recordIn, upsertOutcomeField } from '../api/record';
import { isReusedKey, NotSent } from '../api/refusals';
import { idText, isObject } from '../base/json';
import { checkExact, isDecimal, withExactNumbers } from '../base/numbers';
import { ownMember, setMember } from '../base/ownMembers';
import { orThrow } from '../base/results';
import { allCustomFields, type Field } from '../fields/field';
import { elementKind, isNumeric, mayBeObjects } from '../fields/fieldKinds';
import { RecordComparison } from '../fields/recordComparison';
import { storedParameter } from '../mapping/locator';
import type { NodeRun, Write, WrittenOutput } from '../model';
import { writeOncePerOption } from '../parameters/outputParameters';
import { simplify, summaryFields } from '../reading/simplify';
import { isBlank } from '../values/blank';
import { rememberWrite } from './runState';
import { unprotected, versionOf } from './versions';

/** The record in the response (empty without a body), the HTTP status, and whether an earlier call had made the write. */
export interface Written {
	record: IDataObject;
	status: number;
	isReplayed?: boolean | undefined;
}

/**
 * Sends one write under an idempotency key and under the version that was read, if the service takes them. A service that
 * replaces whole records gets the whole record.
 *
 * @param keyParts as in `WriteInRun`
 * @throws NodeApiError if the service refuses the write, or does not return the record; Error in the user's words if it
 * returns anything else
 */
export async function sendAlone(run: NodeRun, description: WriteDescription, write: Write, keyParts: WriteInRun['keyParts']): Promise<Written> {
	const { id, path, query, version, body: changes, creates, keySubject } = write;
	const { method, takesIfMatch, sends } = description;
	const isReplaced = sends !== undefined && id !== undefined && changes !== undefined;
	const replacement = isReplaced ? await replacementFor(run, description, write) : undefined;
	if (replacement?.unchanged) return { record: replacement.unchanged, status: 200 };
	// A service may send an ETag for caches, and write whatever the If-Match.
	if (replacement && !(takesIfMatch && replacement.etag) && isBlank(replacement.record.version)) run.api.notices.add(unprotected);
	const readVersion = takesIfMatch && version !== undefined ? `"${version}"` : undefined;
	const etag = replacement ? replacement.etag : readVersion;
	const headers = etag === undefined ? {} : { 'if-match': etag };
	const request: ApiRequest = { method, path, headers, query, body: replacement?.record ?? changes };
	// Repeated, it may create another record while the first attempt still runs.
	if (creates === 'ifNoneMatches') request.isRepeatable = false;
	const sent = await sendUnderKey(run, description, request, { keyParts, isAddition: creates === 'addition', keySubject }).catch((error: Error) => error);
	// Another execution may have created the record with these values, which is now found by its name.
	const current = method === 'PATCH' && hasWriteOncePer(run) && isReusedKey(sent) ? await findRecord(run.api, path) : undefined;
	const hasValues = current !== undefined && new RecordComparison(description.fields).difference(current, changes ?? {}).changes.length === 0;
	const { body, status, isReplayed } = hasValues ? { body: current, status: 200, isReplayed: true } : orThrow(sent);
	const record = orThrow<IDataObject>(recordInAnswer(run, description, id, { record: recordIn(body, path), status }));
	return { record, status, isReplayed };
}

/**
 * The whole record with the changed values, for a service that replaces records (PUT, RFC 9110, section 9.3.4): a partial
 * one would erase the rest.
 *
 * @returns the record, and the strong ETag of the record that was read; `unchanged`, the record that was read, if it has the
 * wanted values already, perhaps after an earlier attempt: another version would be refused under its key
 * @throws NodeApiError 412 if the record has another version than the caller read; NotSent if it cannot be read and sent back as
 * it is, or if the service does not version records, since a concurrent change would be lost
 */
async function replacementFor(
	{ api }: NodeRun,
	{ sends, fields }: Pick<WriteDescription, 'sends' | 'fields'>,
	{ id, collection, path, body, version }: Write,
): Promise<{ record: IDataObject; etag: string | undefined; unchanged: IDataObject | undefined }> {
	const { body: answer, headers: { etag } } = await api.send({ method: 'GET', path });
	const isWhole = isObject(answer) && idText(answer.id) === id && (version === undefined || versionOf(answer) !== undefined);
	if (!isWhole) throw new NotSent(otherAnswer);
	if (version !== undefined && String(answer.version) !== String(version)) {
		const message = 'The record has changed since it was read';
		throw api.failure({ message, description: 'Nothing was overwritten.', status: outdatedVersion, details: { status: outdatedVersion } });
	}
	const current: IDataObject = Object.fromEntries(Object.entries(answer).filter(([name]) => sends?.(name)));
	if (Object.keys(current).length === 0) throw new NotSent(otherAnswer);
	const places = longNumbersIn(current);
	const custom = places.some(([member]) => member === allCustomFields) ? await readableCustomFields(api, collection) : undefined;
	const inexact = places.find((place) => !isNoNumber(place, [...fields, ...currentFields(custom), ...(custom?.unwritable ?? [])]));
	if (inexact) throw new NotSent(`${inexact.join('.')}: the record has a number of more than 15 digits, which cannot be sent back as it is. Nothing was written. ${sendItYourself}`);
	const record = mergePatch(current, body ?? {});
	const strongEtag = etag?.startsWith('W/') ? undefined : etag;
	if (strongEtag === undefined && (record.version ?? null) === null) throw new NotSent(unversioned);
	return { record, etag: strongEtag, unchanged: JSON.stringify(record) === JSON.stringify(current) ? answer : undefined };
}

/** The paths of the texts within a value that may have been numbers with more digits than JavaScript keeps. */
function longNumbersIn(value: unknown, path: string[] = []): string[][] {
	if (typeof value === 'object' && value !== null) {
		return Object.entries(value).flatMap(([name, member]) => longNumbersIn(member, Array.isArray(value) ? path : [...path, name]));
	}
	return typeof value === 'string' && isDecimal(value) && withExactNumbers(value) !== value ? [path] : [];
}

/** Whether the values at a path are described, and not as numbers: a number that was read as text would go back as text. */
function isNoNumber(path: string[], fields: Field[]): boolean {
	const fieldAt = (place: string[]) => fields.find((field) => field.path.join('.') === place.join('.'));
	const field = fieldAt(path) ?? fieldAt(path.slice(0, -1))?.members?.find(({ name }) => name === path.at(-1));
	const kind = field && elementKind(field);
	return kind !== undefined && !isNumeric({ kind }) && !mayBeObjects({ kind });
}

const sendItYourself = 'To send the whole record, use API Request of the node CRM Platform Admin.';
const otherAnswer =
	`Instead of this record, the CRM returned another one, part of it, or nothing. ${breaksRule(20)} Nothing was written, because the rest of the record would be erased. ${sendItYourself}`;
const unversioned =
	`The CRM replaces whole records and does not version them (ETag), so changes made by others at the same time would be lost. ${breaksRule(2)} Nothing was written. ${sendItYourself}`;

/**
 * The record in the response to a write; if there is none, the known values of the record.
 *
 * @param id of a record that existed before
 * @returns NodeApiError if the response has no id of a new or changed record (other than a 204 for a known id), if it has
 * another record, or if it says that the record was not deleted
 */
export function recordInAnswer(
	{ api }: NodeRun,
	{ method, replaces }: Pick<WriteDescription, 'method' | 'replaces'>,
	id: string | undefined,
	{ record, status }: { record: IDataObject | undefined; status: number },
): IDataObject | NodeApiError {
	const failure = (message: string, rule: number, advice = mayBeWritten) =>
		api.failure({ message, description: `${breaksRule(rule)} ${advice}`, status, details: { status }, mayBeDone: true });
	if (method === 'DELETE' && record?.deleted === false) {
		return failure('The CRM reported that the record was not deleted', 20, 'Check the record.');
	}
	const isUpdate = method === 'PATCH' || replaces === true;
	const other = id !== undefined && isUpdate ? otherId(record, id) : undefined;
	if (other !== undefined) return failure(`The CRM returned record ${other} instead of ${id}, which the node tried to change`, 20);
	const hasId = idText(record?.id) !== undefined;
	const needsId = id === undefined || (isUpdate && status !== 204);
	// A write that is only accepted may be answered with a job (RFC 9110, section 15.3.3).
	if (needsId && (!hasId || status === 202) && api.isSelfDescribed()) {
		return failure(`The CRM accepted the write (${status}), but no record came back`, 9);
	}
	return id === undefined || hasId ? record ?? {} : { id, ...record };
}

/** The key parts of a write that creates what several items name: it belongs to none of them. */
export const forSeveral = (created: 'record' | 'recordAgain' | 'field' | 'stage', text: string): WriteInRun['keyParts'] => [created, text];

/**
 * Sends a request that writes, under an idempotency key if the service declares a header for it.
 *
 * @param write with Write Once Per, that of one item
 * @param isHarmlessTwice whether a second write has no further effect, so that no hint warns of one
 * @returns the response, whatever its body
 * @throws NodeApiError if the service refuses the write; Error in the user's words if it does not support Write Once Per
 */
export async function sendUnderKey(
	run: NodeRun,
	{ idempotencyHeader: header, idempotencyKey: format }: IdempotencyHeader,
	request: ApiRequest,
	write: WriteInRun,
	isHarmlessTwice = request.isRepeatable ?? isIdempotent(request),
): Promise<ApiResponse> {
	const { api, identity } = run;
	const isKeyed = takesKeys(run, header);
	const isOncePer = hasWriteOncePer(run);
	if (isOncePer && !isKeyed) {
		throw new Error(
			'Write Once Per: the CRM does not support idempotency keys for this operation, so nothing was sent. '
			+ 'Remove the option to write without this protection.',
		);
	}
	const [first = 0, ...others] = write.keyParts;
	// Of what several items name, a record belongs to its name, and all else to the run.
	const key = isOncePer && (typeof first === 'number' || first === 'record')
		? valueKey(identity, JSON.stringify([typeof first === 'number' ? writeOncePer(run, first) : first, ...others]), format)
		: idempotencyKey({ ...identity, ...write }, format);
	rememberWrite(run);
	if (!isHarmlessTwice) warnOfRetries(run, isKeyed, isOncePer);
	return await api.send({ ...request, ...(header !== undefined && { idempotency: { header, key } }) });
}

/** Whether the service recognizes a repeated write by its key. */
export const takesKeys = ({ api }: NodeRun, header: string | undefined): boolean => header !== undefined && api.isSelfDescribed();

/**
 * Warns a user whose write may be repeated: by a node that retries, if the service takes no key, and by a sub-workflow,
 * which n8n starts anew when its parent is retried. It is told the parent's number, but not which node, run and item of it
 * started it (n8n 2.41, getRunData), so its keys cannot follow the parent.
 */
function warnOfRetries({ n8n, api, operation }: NodeRun, isKeyed: boolean, isOncePer: boolean): void {
	const isSubExecution = n8n.getExecutionContext()?.parentExecutionId !== undefined;
	const mayBeOnce = operation.options?.includes(writeOncePerOption) === true && !isOncePer;
	if (isSubExecution && mayBeOnce) api.notices.add(startedAnew);
	if (isKeyed || !n8n.getNode().retryOnFail) return;
	api.notices.add(
		'The CRM does not support idempotency keys for this operation, so Retry On Fail may write records twice. '
		+ 'Turn it off, or check for duplicates after a failure.',
	);
}

const startedAnew =
	'This workflow was started by another one. If that one is retried, n8n starts this one anew, and everything is written again. '
	+ 'To prevent that, set Write Once Per to a value of the item, such as an order number.';

export function hasWriteOncePer({ n8n }: NodeRun): boolean {
	const stored = storedParameter(n8n, 'options.writeOncePer', '');
	return stored !== null && stored !== '';
}

/**
 * The value for which an item is written once.
 *
 * @throws Error in the user's words if it is empty or not a single value
 */
export function writeOncePer({ n8n }: NodeRun, item: number): string {
	const value: unknown = n8n.getNodeParameter('options.writeOncePer', item, '');
	checkExact('Write Once Per', value);
	const isSingle = typeof value === 'string' || typeof value === 'number';
	if (isSingle && !isBlank(value)) return String(value);
	throw new Error('Write Once Per: the expression returned no text or number for this item, so nothing was sent. Choose a value that every item has.');
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
export function outputOfWrite(output: WrittenOutput, written: Written, write: Write): IDataObject {
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
