import type { WriteDescription } from '../api/openapi/writing';
import { isRequiredInForm } from '../fields/field';
import { collectionPath } from '../mapping/locator';
import { prepareValues } from '../mapping/prepareValues';
import { storedFields } from '../mapping/storedFields';
import type { Operation } from '../model';
import { valuesInOption, fieldsProperties } from '../parameters/fieldParameters';
import { simplifyProperty, batchOptions } from '../parameters/outputParameters';
import { simplifyWritten } from '../reading/simplify';
import { writeRecords } from '../writing/batches';
import { requireWrite, applyPresets, requireAnyValue, requireValues, type Presets } from '../writing/requireWrite';
import { writeOncePerOption } from '../writing/writeOne';

/**
 * @param action the entry in n8n's list of actions, such as `Create contact`
 * @param offer a creation with a name and values of its own, such as sending a message
 */
export function create(
	action: string,
	offer?: Partial<Operation['option']> & Presets & { leavesTheCrm: boolean },
): Operation {
	const { leavesTheCrm, preset, only, without, required, ...named }: Partial<NonNullable<typeof offer>> = offer ?? {};
	return {
		option: {
			name: 'Create',
			value: 'create',
			description: 'Create a new record',
			...named,
			action,
		},
		...(leavesTheCrm !== undefined && { action: { leavesTheCrm } }),

		properties: (resource) => [...fieldsProperties(resource), simplifyProperty],
		options: [...batchOptions, ...(offer ? [] : [valuesInOption]), writeOncePerOption],
		write: ({ create }) => applyPresets(create, { preset, only, without, required }),

		async prepare(execution) {
			const description = await requireWrite(execution);
			const stored = storedFields(execution.n8n, 'fields');
			// n8n does not check required fields here, because the mapper shows no errors (parameters/fieldParameters).
			const requiredNames = [...(stored.mode === 'each' ? requiredByForm(description) : []), ...(required ?? [])];
			const bodyOf = await prepareValues(execution, stored, description.fields, 'skip');
			const writeOf = (item: number) => {
				const path = collectionPath(execution, item);
				// The preset alone, such as the state of a message, is not a record.
				const values = requireAnyValue(bodyOf(item));
				const body = requireValues({ ...values, ...preset }, description, requiredNames);
				return { collection: path, path, body };
			};
			return writeRecords(execution, description, writeOf, await simplifyWritten(execution));
		},
	};
}

function requiredByForm({ fields }: WriteDescription): string[] {
	return fields.filter((field) => isRequiredInForm(field) && field.path.length === 1).map(({ name }) => name);
}
