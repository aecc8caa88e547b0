import { fileField, readBinary } from '../files/binary';
import { readFileRecords } from '../files/rows';
import { surveyFile } from '../importing/fileSurvey';
import { planColumns } from '../importing/importColumns';
import { importSettings } from '../importing/importPlan';
import { importRows } from '../importing/importRows';
import { refuseDiffering } from '../mapping/sameForAll';
import { ItemWithFiles, type Operation } from '../model';
import { binaryFieldProperty, fileSettingsOf, importOptions, importProperties, mappedColumns, settingsOfAllFiles } from '../parameters/fileParameters';
import { writeOncePerOption } from '../parameters/outputParameters';
import { eachItem } from '../schedule';

export const importFile: Operation = {
	option: {
		name: 'Import File',
		value: 'importFile',
		action: 'Import records from file',
		description: 'Create, update or delete a record for each row of a file',
	},

	properties: () => importProperties,
	// The keys of jobs contain Write Once Per, so that an execution finds the jobs of another one that died.
	options: [...importOptions, writeOncePerOption],
	output: null,
	describedWrite: ({ upsert, create }) => upsert ?? create,

	async prepare(run) {
		refuseDiffering(run.n8n, settingsOfAllFiles);
		return eachItem(async (item) => {
			const { n8n } = run;
			const field = fileField(n8n, item, binaryFieldProperty);
			const { fileName } = n8n.getInputData()[item]!.binary![field]!;
			const settings = await importSettings(run, { item, fileName });
			const fileSettings = fileSettingsOf(n8n, item);
			const open = async () => await readFileRecords(readBinary(n8n, item, field), fileSettings);
			const mapped = mappedColumns(n8n, item);
			const survey = await surveyFile(n8n, await open());
			if (survey.rows === 0) throw new Error('The file has no records. Nothing was written.');
			const columns = await planColumns(run, settings, mapped, survey);
			const { json, files } = await importRows(run, { ...settings, columns, fileNumbers: [item], lateLinks: [] }, await open());
			return new ItemWithFiles(json, files);
		});
	},
};
