import type { IDataObject } from 'n8n-workflow';

import { prepareValues } from '../mapping/prepareValues';
import { storedFields } from '../mapping/storedFields';
import type { Operation } from '../model';
import { fieldsProperties } from '../parameters/fieldParameters';
import { writeOptions, simplifyProperty } from '../parameters/outputParameters';
import { ifEmptyOption, recordAt, recordProperty } from '../parameters/recordParameters';
import { simplifyWritten } from '../reading/simplify';
import { writeRecords } from '../writing/batches';
import { requireWrite } from '../writing/requireWrite';

/**
 * An action on one record other than changing its values, such as winning a deal.
 *
 * @param action the entry in n8n's list of actions, such as `Win deal`
 * @param segment the last segment of its path: `win` of `POST /deals/{id}/win`
 * @param offer its entry in the menu, whether it leaves the CRM, its output unless that is the record, whether it takes values,
 * and the values that it sets
 */
export function recordAction(
	action: string,
	segment: string,
	offer: Pick<Operation['option'], 'name' | 'value' | 'description'> &
		Pick<Operation, 'output'> & { leavesTheCrm: boolean; takesValues?: true; sets?: IDataObject },
): Operation {
	const { leavesTheCrm, output, takesValues, sets, ...option } = offer;
	const answersRecord = output === undefined;
	return {
		option: { ...option, action },
		action: { leavesTheCrm },
		...(!answersRecord && { output }),

		properties: (resource) => [
			recordProperty(resource),
			...(takesValues ? fieldsProperties() : []),
			...(answersRecord ? [simplifyProperty] : []),
		],
		options: [...writeOptions, ifEmptyOption],
		write: ({ actions }) => actions[segment],

		async prepare(execution) {
			const description = await requireWrite(execution);
			const bodyOf = takesValues
				? await prepareValues(execution, storedFields(execution.n8n, 'fields'), description.fields, 'skip')
				: undefined;
			const writeOf = (item: number) => {
				const record = recordAt(execution, item);
				const path = `${record.path}/${segment}`;
				return { ...record, path, ...(sets && { sets: () => sets }), ...(bodyOf && { body: bodyOf(item) }) };
			};
			const resultFrom = answersRecord ? await simplifyWritten(execution) : (answer: IDataObject) => answer;
			return writeRecords(execution, description, writeOf, resultFrom);
		},
	};
}
