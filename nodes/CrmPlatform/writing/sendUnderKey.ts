import { idempotencyKey, valueKey, type WriteInRun } from '../api/http/idempotency';
import { isIdempotent, type ApiRequest, type ApiResponse } from '../api/http/request';
import type { IdempotencyHeader } from '../api/openapi/writing';
import { checkExact } from '../base/numbers';
import { storedParameter } from '../mapping/locator';
import type { NodeRun } from '../model';
import { writeOncePerOption } from '../parameters/outputParameters';
import { isBlank } from '../values/blank';
import { rememberWrite } from './runState';

/** In `numbersOfCreation`. */
export const creationOfRecord = -1;

/**
 * Sends a request that writes, under an idempotency key if the service declares a header for it.
 *
 * @param write with Write Once Per, that of one item
 * @param isRepeatable whether a second write has no further effect
 * @returns the response, whatever its body
 * @throws NodeApiError if the service refuses the write; Error in the user's words if it does not support Write Once Per
 */
export async function sendUnderKey(
	run: NodeRun,
	{ idempotencyHeader: header, idempotencyKey: format }: IdempotencyHeader,
	request: ApiRequest,
	write: WriteInRun,
	isRepeatable = request.isRepeatable ?? isIdempotent(request),
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
	const [item = 0, ...others] = write.items;
	// What several items name belongs to none of them: a record belongs to its name, and all else to the run.
	const [creation = 0] = others;
	const key = isOncePer && creation >= creationOfRecord
		? valueKey(identity, [creation === creationOfRecord ? 'name' : writeOncePer(run, item), ...others].join('/'), format)
		: idempotencyKey({ ...identity, ...write }, format);
	rememberWrite(run);
	if (!isRepeatable) warnOfRetries(run, isKeyed, isOncePer);
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

/** Whether the user has set Write Once Per. */
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
