import { parseInput } from '../../core/foundation/field-errors.ts';
import type { JsonObject } from '../../core/foundation/json.ts';
import { actionInput, type Resource, type StoredRecord } from '../../core/schemas/resource.ts';
import type { WriteContext } from '../../core/store/write-context.ts';
import { ruleContext } from './rule-context.ts';
import { changeByService, existingRecord, requireVersion } from './write.ts';

/**
 * Applies an action of the resource to a record.
 *
 * @param ifMatch the value of the header If-Match, if there is one
 * @throws Problem not_found, version_mismatch, validation_failed for input that the action does not take
 */
export function takeAction(
	context: WriteContext,
	id: string,
	action: NonNullable<Resource['actions']>[string],
	input: JsonObject,
	ifMatch: string | undefined,
): StoredRecord {
	const record = existingRecord(context.store, context.resource, id);
	requireVersion(record, ifMatch);
	const values = parseInput(actionInput(action), input);
	const change = action.change(record, values, ruleContext(context));
	return changeByService(context, record, change);
}
