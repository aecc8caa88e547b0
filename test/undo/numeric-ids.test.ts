import type { IDataObject } from 'n8n-workflow';

import { fieldNamed } from '../../nodes/CrmPlatform/fields/field';
import { type LoggedEvent, recordKey } from '../../nodes/CrmPlatform/undo/recordHistories';
import { UndoLinks } from '../../nodes/CrmPlatform/undo/undoLinks';
import { alteredService } from '../support/altered-service.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { resultsById, undoing } from '../support/undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox);
const { as, createAs, add, record } = undoing(sandbox);
const { undo } = undoing(service);

const idsByNumber = new Map<number, string>();

/** The number that the altered service has for an ID of the sandbox. */
function numberFor(id: string): number {
	const [usedNumber] = [...idsByNumber].find(([, other]) => other === id) ?? [];
	const number = usedNumber ?? 7_700_000 + idsByNumber.size;
	idsByNumber.set(number, id);
	return number;
}

const idFor = (number: unknown) => idsByNumber.get(Number(number)) ?? String(number);

/** The sandbox, with numbers as the IDs of companies, contacts and deals: a text is not a link. */
beforeEach(() =>
	service.alter({
		request(request) {
			request.url.href = request.url.href.replace(/\b77\d{5}\b/g, idFor);
			request.text = request.text.replace(
				/"(id":"|\w+_id":)(77\d{5})\b"?/g, (_, name: string, number) => `"${name.replace(/"$/, '')}"${idFor(number)}"`,
			);
		},
		answer: (text, { url }) =>
			url.pathname.endsWith('/openapi.json') ? text : text.replace(/"((?:com|con|dea)_[0-9a-z]+)"/g, (_, id: string) => String(numberFor(id))),
	}),
);

/** Undoes an execution. Returns the results by the sandbox's IDs, and the IDs of records that were created again. */
async function undone(execution: string) {
	const { items } = await undo(execution);
	const entries = items.map((item) => ({ ...item, id: idFor(item.id) }));
	return {
		results: resultsById({ items: entries }),
		newIds: Object.fromEntries(items.map(({ id, new_id: newId }) => [idFor(id), idFor(newId)])),
	};
}

test('links to a deleted record are restored, and a second undo finds them', async () => {
	const [company, other] = [await add('companies', { name: 'C' }), await add('companies', { name: 'C0' })];
	const changed = await add('contacts', { last_name: 'C1', company_id: company.id });
	const deleted = await add('contacts', { last_name: 'C2', company_id: company.id });
	await as('n3', op.update('contact', changed.id, { company_id: other.id }));
	await as('n3', op.deleteRecord('contact', deleted.id));
	await as('n3', op.deleteRecord('company', company.id));
	const { results, newIds } = await undone('n3');
	expect(results).toEqual({ [changed.id]: 'undone', [deleted.id]: 'undone', [company.id]: 'undone' });
	const link = { company_id: newIds[company.id] };
	expect([await record('contacts', changed.id), await record('contacts', newIds[deleted.id]!)]).toMatchObject([link, link]);
	expect((await undone('n3')).results).toEqual({ [changed.id]: 'already_so', [deleted.id]: 'already_so', [company.id]: 'already_so' });
});

test('a number that equals the ID of a deleted record is not replaced', async () => {
	const company = await add('companies', { name: 'D' });
	const amount = numberFor(company.id);
	const deal = await add('deals', { title: 'D', amount });
	await as('n4', op.update('deal', deal.id, { amount: 1 }));
	await as('n4', op.deleteRecord('company', company.id));
	expect((await undone('n4')).results).toEqual({ [deal.id]: 'undone', [company.id]: 'undone' });
	expect(await record('deals', deal.id)).toMatchObject({ amount });
	expect((await undone('n4')).results).toEqual({ [deal.id]: 'already_so', [company.id]: 'already_so' });
	expect(await record('deals', deal.id)).toMatchObject({ amount });
});

test('a number that equals the ID of a created record is no link to it, and a number in a link is', async () => {
	await add('custom-fields', { resource: 'contacts', key: 'score', label: 'Score', type: 'number' });
	const [free, linked] = [await createAs('n7', 'company', { name: 'G' }), await createAs('n7', 'company', { name: 'H' })];
	await add('deals', { title: 'G', amount: numberFor(free) });
	await add('contacts', { last_name: 'G', company_id: linked, custom_fields: { score: numberFor(free) } });
	expect((await undone('n7')).results).toEqual({ [free]: 'undone', [linked]: 'conflict' });
});

test('an ID that records of two types have is a link only to the type of the field', async () => {
	const logged = (collection: string, id: string, object: IDataObject) => {
		const meaning = { collection, change: 'updated' };
		return { event: { data: { object } }, meaning, key: recordKey({ collection, id }), id } as unknown as LoggedEvent;
	};
	const number = fieldNamed('size', { kind: 'number' });
	const fields = [number, fieldNamed('company', { target: '/companies' }), fieldNamed('teams', { kind: 'json', members: [number] })];
	const links = new UndoLinks({ describe: async () => ({ fields }) } as never, { takesPrecedence: false });
	for (const collection of ['/companies', '/contacts']) await links.add(logged(collection, '12', {}), true);
	const linkedWith = async (object: IDataObject) => {
		await links.add(logged('/deals', '7', object), false);
		return [...links.linkedKeys([], 'done')];
	};
	expect(await linkedWith({ company: 12, size: 12 })).toEqual(['/companies/12']);
	expect(await linkedWith({ size: 12 })).toEqual([]);
	expect(await linkedWith({ other: 12 })).toEqual(['/companies/12', '/contacts/12']);
	expect(await linkedWith({ teams: [{ size: 1, contact_ids: [12] }] })).toEqual(['/companies/12', '/contacts/12']);
});

test('an ID that is a number in a field, and text in its list, is the same', async () => {
	const [first, second, third] = await Promise.all(['L', 'M', 'N'].map(async (last_name) => await add('contacts', { last_name })));
	const deal = await add('deals', { title: 'L', contact_id: first!.id, contact_ids: [first!.id] });
	await as('n8', op.update('deal', deal.id, { contact_id: second!.id, contact_ids: JSON.stringify([second!.id]) }));
	await sandbox.call('PATCH', `/v1/deals/${deal.id}`, { contact_ids: [second!.id, third!.id] });
	service.alter({
		request: ({ url }) => void (url.href = url.href.replace(/\b77\d{5}\b/g, idFor)),
		answer: (text) => text.replace(/"((?:con|dea)_[0-9a-z]+)"/g, (_, id: string) => `"${numberFor(id)}"`)
			.replace(/"contact_id":"(\d+)"/g, '"contact_id":$1'),
	});
	expect((await undo('n8', { preview: true })).items).toMatchObject([{ result: 'to_be_undone', kept: null }]);
});

test('in Only These Records, the ID of records of two types is refused, unless Record Types has only one of them', async () => {
	const [contact, deal] = [await add('contacts', { last_name: 'E' }), await add('deals', { title: 'E' })];
	await as('n5', op.update('contact', contact.id, { job_title: 'E' }));
	await as('n5', op.update('deal', deal.id, { amount: 1 }));
	service.alter({ answer: (text) => [contact, deal].reduce((json, { id }) => json.replaceAll(`"${id}"`, '12'), text) });
	const preview = async (kinds: string[]) => await undo('n5', { preview: true, options: { onlyRecords: '12', kinds } });
	await expect(preview([])).rejects.toThrow('12 is the ID of records of several types: deal, contact.');
	expect((await preview(['contact'])).items).toMatchObject([{ kind: 'contact', id: '12', result: 'to_be_undone' }]);
});

test('in Only These Records, a record is one, whatever the CRM reports of it in events of a type that it does not describe', async () => {
	const contact = await add('contacts', { last_name: 'F' });
	for (const job_title of ['F', 'G']) await as('n6', op.update('contact', contact.id, { job_title }));
	service.edit(({ path, body }) => {
		if (!path.startsWith('/v1/events')) return;
		for (const event of body.data as Array<{ data: { object: IDataObject }; type: string }>) {
			if (event.data.object.job_title === 'F') event.type = 'contact.scored';
		}
	});
	const { items } = await undo('n6', { preview: true, options: { onlyRecords: contact.id } });
	const { id } = contact;
	expect(items).toMatchObject([{ id, result: 'to_be_undone' }, { id, kind: 'contact.scored', result: 'cannot_be_undone' }]);
});
