import type { INode } from 'n8n-workflow';
import type { Workflow } from '../../../../demo/n8n-client.ts';

const columns = ['email', 'name', 'crm_id', 'crm_version', 'synced'];
const value = (name: string) => `$json.${name}`;
const rowValue = (name: string) => `$json.row.${name}`;
const agreed = 'id = $1 and crm_version is not distinct from $2 and synced is not distinct from $3';
const agreedValues = ['id', 'crm_version', 'synced'].map(rowValue);
const asRead = `${agreed} and email = $4 and name is not distinct from $5`;
const readValues = [...agreedValues, ...['email', 'name'].map(rowValue)];

/** The SQL and the parameters for each Data Table node of the two-way example. */
const queries: Record<string, [query: string, values: string[]]> = {
	'All people': ['select * from people order by id', []],
	'Rows of the contacts': [
		'select * from people where crm_id = $1 or email = $2',
		['crm_id', 'email'].map(value),
	],
	'Add the row': [
		`insert into people (${columns.join(', ')}) values ($1, $2, $3, $4, $5) on conflict do nothing`,
		columns.map(value),
	],
	'Change the row': [
		`update people set email = $6, name = $7, crm_id = $8, crm_version = $9, synced = $10 where ${asRead}`,
		[...readValues, ...columns.map(value)],
	],
	'Delete the row': [`delete from people where ${asRead}`, readValues],
	'Remember what both agree on': [
		`update people set crm_id = $4, crm_version = $5, synced = $6 where ${agreed}`,
		[...agreedValues, ...['crm_id', 'crm_version', 'synced'].map(value)],
	],
};

/** Nodes of the example that create its table. An application already has one. */
const creatingNodes = ['Table people', 'Table for the contacts', 'A first person', 'Is not there yet', 'Add the person'];

/**
 * The two-way example with a table in PostgreSQL, through n8n's Postgres node.
 *
 * @param credentialId the ID of a Postgres credential
 * @throws Error for a Data Table node without SQL here
 */
export function inPostgres({ nodes, connections, ...workflow }: Workflow, table: string, credentialId: string): Workflow {
	const keptNodes = nodes.filter(({ name }) => !creatingNodes.includes(name));
	const links = Object.entries(connections).filter(([name]) => !creatingNodes.includes(name));
	return {
		...workflow,
		nodes: keptNodes.map((node) => (node.type.endsWith('.dataTable') ? postgresNode(node, table, credentialId) : node)),
		connections: Object.fromEntries(
			links.map(([name, { main = [] }]) => [
				name,
				{
					main: main.map((output) =>
						(output ?? []).flatMap((link) => {
							if (link.node === 'Table people') return [{ ...link, node: 'All people' }];
							return creatingNodes.includes(link.node) ? [] : [link];
						}),
					),
				},
			]),
		),
	};
}

function postgresNode(node: INode, table: string, credentialId: string): INode {
	const nodeQuery = queries[node.name];
	if (!nodeQuery) throw new Error(`There is no SQL for the node ${node.name}.`);
	const [query, values] = nodeQuery;
	return {
		...node,
		type: 'n8n-nodes-base.postgres',
		typeVersion: 2.6,
		parameters: {
			operation: 'executeQuery',
			query: query.replace(/\bpeople\b/, table),
			options: {
				queryBatching: 'independently',
				...(values.length > 0 && { queryReplacement: `={{ [${values.join(', ')}] }}` }),
			},
		},
		credentials: { postgres: { id: credentialId, name: 'PostgreSQL' } },
	};
}
