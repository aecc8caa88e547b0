import { generateNodeTypeFile } from '@n8n/workflow-sdk';
import type { INodeType } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { CrmPlatformAdmin } from '../../nodes/CrmPlatform/CrmPlatformAdmin.node';
import { CrmPlatformDuplicates } from '../../nodes/CrmPlatform/CrmPlatformDuplicates.node';
import { CrmPlatformPollTrigger } from '../../nodes/CrmPlatform/CrmPlatformPollTrigger.node';
import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';
import { CrmPlatformTools } from '../../nodes/CrmPlatform/CrmPlatformTools.node';
import { CrmPlatformTrigger } from '../../nodes/CrmPlatform/CrmPlatformTrigger.node';
import { asCode, builderExamples } from '../../nodes/CrmPlatform/builderHints';
import { nodeRuns } from '../support/node-runs.ts';
import { sinceN8n } from '../support/n8n-version.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);

/** The definition of a node that n8n gives AI builders (n8n 2.41, synthesize-type-def.js of its catalog of nodes). */
function definitionOf({ description }: INodeType): string {
	const properties = description.properties.filter(({ type }) => type !== 'hidden');
	return generateNodeTypeFile({ ...description, properties } as never);
}

sinceN8n('2.41', () => {
	describe('The definition of a node that an AI builder reads', () => {
		test.each([
			{ node: new CrmPlatform() as INodeType, characters: 26_000 },
			{ node: new CrmPlatformAdmin(), characters: 12_250 },
			{ node: new CrmPlatformDuplicates(), characters: 8_000 },
			{ node: new CrmPlatformSync(), characters: 11_000 },
			{ node: new CrmPlatformTools(), characters: 12_000 },
			{ node: new CrmPlatformTrigger(), characters: 5_500 },
			{ node: new CrmPlatformPollTrigger(), characters: 10_600 },
		])('of $node.description.displayName fits into $characters characters', ({ node, characters }) => {
			expect(definitionOf(node).length).toBeLessThanOrEqual(characters);
		});

		test.each([new CrmPlatform(), new CrmPlatformAdmin(), new CrmPlatformDuplicates(), new CrmPlatformSync()])(
			'has hints in the versions of n8n that load hints: $description.displayName',
			({ description }) => {
				const { validateNodeDescription } = jest.requireActual<{ validateNodeDescription(description: object): void }>(
					'n8n-core/dist/nodes-loader/validate-node-description',
				);
				expect(() => validateNodeDescription(description)).not.toThrow();
			},
		);

		test('lists the operations of a resource', () => {
			expect(definitionOf(new CrmPlatform())).toContain('deal (lose, moveToStage, win)');
		});

		test.each(builderExamples)('has a working way to $task', async ({ parameters }) => {
			expect(definitionOf(new CrmPlatform())).toContain(asCode(parameters));
			const items = [{ mail: 'ada@acme.example', name: 'Ek' }];
			const { hints } = await run(parameters, items);
			expect(hints).toEqual([]);
		});

		test('names every field that people fill in first, and its choices', () => {
			expect(definitionOf(new CrmPlatform())).toContain('lifecycle_stage');
			expect(definitionOf(new CrmPlatform())).toContain('low|normal|high|urgent');
		});
	});
});
