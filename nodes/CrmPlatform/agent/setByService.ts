import { customFieldsOnce } from '../mapping/acceptedFields';
import { wordsOf } from '../mapping/fieldNames';
import { allCustomFields, customFieldPrefix } from '../fields/field';
import type { ModelArguments } from './modelArguments';
import { fieldsOfRecordType, shortName } from './toolFields';
import { toolCollection, toolDescription, type ToolRun } from './toolRun';
import { actionsOf } from './toolSettings';

/**
 * Refuses values for fields that records have and that only the service sets.
 *
 * @throws Error in the model's words
 */
export async function refuseSetByService(run: ToolRun, args: ModelArguments): Promise<void> {
	// An id is refused later, when the values are read, with a hint about where to send it.
	const names = Object.keys(args.fieldValues()).filter((name) => wordsOf(name) !== 'id');
	if (names.length === 0) return;
	const recordType = args.recordType();
	const fields = await fieldsOfRecordType(run, recordType);
	const words = new Set(fields.flatMap(({ name, label, path }) => [
		name,
		label,
		shortName(name),
		path[0] ?? '',
		path.slice(1).join('.'),
	].map(wordsOf)));
	const recordFieldNames = (await toolDescription(run, recordType)).fields.map(({ name }) => name);
	const custom = recordFieldNames.includes(allCustomFields) ? await customFieldsOnce(run.api, toolCollection(recordType)) : undefined;
	const knownNames = [...recordFieldNames, ...(custom?.unwritableNames ?? [])];
	const readOnlyNames = names.filter((name) => !words.has(wordsOf(name)) && knownNames.some((knownName) => knownName === name || knownName === customFieldPrefix + name));
	if (readOnlyNames.length === 0) return;
	const { prefix, verbs } = run.settings;
	const actions = actionsOf(recordType, verbs).map(({ option }) => option.value).join(', ');
	const instead = actions === '' ? '' : ` The actions of ${prefix}_act change some of these: ${actions}.`;
	throw new Error(
		`${readOnlyNames.join(', ')}: read-only, because the CRM sets it.${instead} ${prefix}_describe lists the fields that can be written.`,
	);
}
