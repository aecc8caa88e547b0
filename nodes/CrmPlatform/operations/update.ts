import type { IDataObject } from 'n8n-workflow';

import { withoutMembers } from '../base/ownMembers';
import { prepareValues } from '../mapping/prepareValues';
import { storedFields } from '../mapping/storedFields';
import type { Operation } from '../model';
import { blankNotices, emptyCellsOption, valuesInOption, fieldsProperties } from '../parameters/fieldParameters';
import { writeOptions, simplifyProperty, batchOptions } from '../parameters/outputParameters';
import { preparePickedIds, type PickedField } from '../mapping/pickedFields';
import { ifEmptyOption, recordAt, recordProperty, pickedProperty } from '../parameters/recordParameters';
import { simplifyWritten } from '../reading/simplify';
import { writeRecords } from '../writing/batches';
import { requireDescribed, requireWrite, applyPresets, requireAnyValue, requireValues, type Presets } from '../writing/requireWrite';

/** @param action the entry in n8n's list of actions, such as `Update contact` */
export function update(action: string): Operation {
	return updateOf(action, {
		name: 'Update',
		value: 'update',
		description: 'Update some fields of a record and leave the others unchanged',
	});
}

/** The menu entry of an update, and the values that it sets or asks for. */
type UpdateOffer = Pick<Operation['option'], 'name' | 'value'> & Partial<Operation['option']> & Presets & { picked?: PickedField[] };

/**
 * An update under a name of its own, of all fields or some, such as closing a ticket.
 *
 * @param action the entry in n8n's list of actions, such as `Close ticket`
 */
export function namedUpdate(action: string, { leavesTheCrm, ...offer }: UpdateOffer & { leavesTheCrm: boolean }): Operation {
	return { ...updateOf(action, offer), action: { leavesTheCrm } };
}

function updateOf(action: string, { preset, only, without, required, picked = [], ...named }: UpdateOffer): Operation {
	const asksForFields = only === undefined || only.length > 0;
	return {
		option: { ...named, action },

		properties: (resource) => [
			recordProperty(resource),
			...picked.map(pickedProperty),
			...(only === undefined ? [...fieldsProperties(resource), ...blankNotices] : asksForFields ? fieldsProperties() : []),
			simplifyProperty,
		],
		options: only === undefined ? [...batchOptions, ifEmptyOption, emptyCellsOption, valuesInOption] : [...writeOptions, ifEmptyOption],
		write: (description) => applyPresets(description.update, { preset, only, without, required }),

		async prepare(execution) {
			const description = await requireWrite(execution);
			const bodyOf = asksForFields
				? await prepareValues(execution, storedFields(execution.n8n, 'fields'), description.fields, 'clear')
				: (): IDataObject => ({});
			const { fields: all } = await requireDescribed(execution, 'update');
			const pickedOf = await preparePickedIds(execution, picked, all);
			const writeOf = (item: number) => {
				// The picked record is the one to change; an item's own id names the record it came from.
				const fields = withoutMembers(bodyOf(item), 'id');
				const values = { ...fields, ...pickedOf(item), ...preset };
				// The preset alone, such as the state of a ticket, is a change.
				const body = requireValues(requireAnyValue(values), description, required);
				return { ...recordAt(execution, item), body };
			};
			return writeRecords(execution, description, writeOf, await simplifyWritten(execution));
		},
	};
}
