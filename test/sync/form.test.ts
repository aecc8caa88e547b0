import { NodeHelpers, type INodeParameters } from 'n8n-workflow';

import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';

const { description } = new CrmPlatformSync();

/** The parameters that n8n shows of a sync of contacts. */
function visibleParameters(values: INodeParameters): string[] {
	const all = { resource: 'contact', operation: 'upsert', ...values };
	const visible = description.properties.filter((property) =>
		NodeHelpers.displayParameter(all, property, { typeVersion: 1 }, description),
	);
	return visible.map(({ name }) => name);
}

test('When Both Changed is shown once a field has the version', () => {
	expect(visibleParameters({ versionField: '', bothChanged: 'latest' })).not.toContain('bothChanged');
	expect(visibleParameters({ versionField: '', bothChanged: 'latest' })).not.toContain('changedAtField');
	expect(visibleParameters({ versionField: 'crm_version', bothChanged: 'conflict' })).toContain('bothChanged');
	expect(visibleParameters({ versionField: 'crm_version', bothChanged: 'conflict' })).not.toContain('changedAtField');
	expect(visibleParameters({ versionField: 'crm_version', bothChanged: 'latest' })).toContain('changedAtField');
});

test('a new node has its own name', () => {
	expect(NodeHelpers.makeNodeName({ resource: 'contact', operation: 'upsert' }, description)).toBe('CRM Platform Sync');
});

test('a new node previews, and its form says so first', () => {
	const [, resource, first] = visibleParameters({}).filter((name) => name !== 'operation');
	expect([resource, first]).toEqual(['resource', 'preview']);
	expect(description.properties.find(({ name }) => name === 'preview')).toMatchObject({ default: true });
});

test('outputs that need attention come before Unchanged', () => {
	expect(description.outputNames).toEqual(['Created', 'Updated', 'Deleted', 'Conflict', 'Unchanged']);
});
