import type { IDataObject } from 'n8n-workflow';

import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { importOf, exportOf } = fileRuns(sandbox, useBinaryStore());

const contacts = async () => await sandbox.list('contacts?limit=500');

async function empty(): Promise<void> {
	await sandbox.call('POST', '/v1/contacts/batch/delete', { items: (await contacts()).map(({ id }) => ({ id })) });
	const { body } = await sandbox.call('GET', '/v1/custom-fields?resource=contacts&limit=500');
	for (const { id, key } of body.data as IDataObject[]) {
		if (key === 'k1' || key === 'k2') await sandbox.call('DELETE', `/v1/custom-fields/${String(id)}`);
	}
}

const labeled = async (label: string, key = 'k1') => {
	const field = await sandbox.create('custom-fields', { resource: 'contacts', key, label, type: 'text' });
	expect(field).toMatchObject({ key });
};

const person = {
	first_name: 'First', last_name: 'Last', external_id: 'a', email: 'a@b.example', job_title: 'Job', timezone: 'UTC',
	phone: '+4930123456', address: { city: 'Here' },
};
const outputFields = [...Object.keys(person), 'custom_fields'];

const labels = [
	'First name', 'first_name', 'External Id', 'E-Mail', 'ADDRESS', 'Marketing Consent', 'custom fields', 'Company ID', 'Job title', 'Time zone',
	'Owner', 'created_at', 'ID', 'import_row', 'address.city', 'Address City', 'custom_fields.k1', 'customer_number', ' Odd ', '---', '=Sum',
];

beforeEach(empty);

test.each(labels)('a custom field with the label “%s” is imported from a file with labels, as are the others', async (label) => {
	await labeled(label);
	const values = { ...person, custom_fields: { k1: 'Own' } };
	const contact = await sandbox.create('contacts', values);
	expect(contact).toMatchObject(values);
	const { text } = await exportOf({ options: { outputFields } });
	await sandbox.call('DELETE', `/v1/contacts/${contact.id}`);
	for (const importAs of ['create', 'upsert']) {
		const { json, failed } = await importOf(text, { importAs });
		expect({ failed, done: json.done }).toMatchObject({ done: 1 });
		expect(await contacts()).toMatchObject([values]);
		await sandbox.call('POST', '/v1/contacts/batch/delete', { items: (await contacts()).map(({ id }) => ({ id })) });
	}
});

test('a column with the exact label of a field is that field, whatever other name it resembles', async () => {
	await labeled('Company ID');
	await sandbox.create('companies', { name: 'Blue' });
	await importOf('Last Name,Company ID\nA,Blue\n', { importAs: 'create' });
	expect(await contacts()).toMatchObject([{ last_name: 'A', company_id: null, custom_fields: { k1: 'Blue' } }]);
});
