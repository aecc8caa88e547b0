import { otherId, readRecord } from '../api/record';
import { requireDescribed } from '../api/requireDescribed';
import type { Operation, Result } from '../model';
import { ifEmptyOption, recordAt, recordProperty } from '../parameters/recordParameters';
import { addNamesOption, outputFieldsOption, simplifyProperty } from '../parameters/outputParameters';
import { outputFieldsOf, simplify } from '../reading/simplify';
import { eachItem, slicesAtOnce } from '../schedule';

export const get: Operation = {
	option: { name: 'Get', value: 'get', action: 'Get %', description: 'Retrieve a single record' },

	properties: (resource) => [recordProperty(resource), simplifyProperty],
	options: [outputFieldsOption, ifEmptyOption, addNamesOption],

	async prepare(run) {
		const { fields, summary } = await requireDescribed(run);
		const read = async (item: number): Promise<Result> => {
			const { id, path } = recordAt(run, item);
			const record = await readRecord(run.api, path);
			const other = otherId(record, id);
			if (other !== undefined) run.api.notices.add(`For the ID ${id}, the CRM returned record ${other}: they may have been merged.`);
			const output = await outputFieldsOf(run, item, { fields, summary });
			return output ? simplify(record, output) : record;
		};
		// They do not wait for each other.
		return eachItem(read, slicesAtOnce);
	},
};

/** Reads the one record at a fixed path, such as the user the credential belongs to. */
export const getFixed = (path: string, option: Operation['option']): Operation => ({
	option,
	properties: () => [],
	prepare: ({ api }) => eachItem(async () => await readRecord(api, path)),
});
