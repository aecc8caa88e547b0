import type * as n8nWorkflow from 'n8n-workflow';
import type * as oldN8n from '../../nodes/CrmPlatform/api/signIn';
import { refuseOldN8n } from '../../nodes/CrmPlatform/api/signIn';

test('this n8n is new enough', () => expect(refuseOldN8n).not.toThrow());

test('an n8n whose n8n-workflow lacks a feature of 2.10 is refused, and its version named', () => {
	jest.isolateModules(() => {
		jest.doMock('n8n-workflow', () => ({
			...jest.requireActual<typeof n8nWorkflow>('n8n-workflow'),
			WorkflowExpression: undefined,
		}));
		const old = jest.requireActual<typeof oldN8n>('../../nodes/CrmPlatform/api/signIn');
		expect(old.refuseOldN8n).toThrow('n8n 2.20 or newer');
	});
});
