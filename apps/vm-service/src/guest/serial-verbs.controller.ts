import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ExecSerialRequest, ExecSerialView, vmOps } from '@inquest/contracts-vm';
import { RpcHandler } from '@inquest/messaging';
import { SerialVerbsService } from './serial-verbs.service';

/** Commands by the serial ports of this node's machines, over NATS. */
@Controller()
export class SerialVerbsRpcController {
  constructor(private readonly verbs: SerialVerbsService) {}

  @RpcHandler(vmOps.execSerial)
  execSerial(@Payload() request: ExecSerialRequest): Promise<ExecSerialView> {
    return this.verbs.exec(request);
  }
}
